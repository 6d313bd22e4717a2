"""The benchmark of edits: its figures, and the file that it edits, without timing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from warpreg.cli import main
from warpreg_workbench.bench import edit

SECONDS = {
    "timing": (10.0, 1.5, 1.0), "designed": (5.0, 1.25, 1.0), "edited": (3.0, 1.5, 1.0),
    "replayed": (4.0, 1.0, 1.5), "replayed again": (1.75, 1.0, 1.25),
}  # fmt: skip
"""Of the first process and of two later ones: the first core takes 9 s, that of the design 4, after an edit 2."""


def test_figures_are_differences_to_warm_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = [second for each in SECONDS.values() for second in each]
    texts: list[str] = []

    def python(arguments: Sequence[str], cache: str) -> str:
        Path(cache, "cores").mkdir(parents=True, exist_ok=True)
        if "new-design" in arguments:
            assert main(list(arguments[2:])) == 0
        return ""

    def processor_seconds(arguments: Sequence[str], cache: str) -> float:
        texts.extend(Path(one).read_text() for one in arguments if one.endswith(".py"))
        return left.pop(0)

    monkeypatch.setattr(edit, "python", python)
    monkeypatch.setattr(edit, "processor_seconds", processor_seconds)
    capsys.readouterr()
    found = edit.edit()
    assert left == []
    figures = {name: value for name, value in found.items() if name != "machine"}
    assert figures == {
        "first_core_s": 9.0, "designed_core_ratio": 4 / 9, "edited_core_ratio": 2 / 9, "first_replay_s": 3.0,
        "edited_replay_ratio": 0.25,
    }  # fmt: skip
    is_edited = ["w.count(plan, EVICTIONS, 2)" in text for text in texts]
    assert is_edited == [False] * 3 + [True] * 3 + [False] * 3 + [True] * 3


def test_the_command_prints_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    figures = dict.fromkeys(("first_core_s", "designed_core_ratio", "edited_core_ratio", "first_replay_s"), 0.5)
    monkeypatch.setattr(edit, "edit", lambda begin: figures | {"edited_replay_ratio": 0.25})
    assert main(["bench", "edit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edited_replay_ratio"] == 0.25
    assert main(["bench", "edit"]) == 0
    assert "edited_core_ratio" in capsys.readouterr().out
