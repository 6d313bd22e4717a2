"""``warpreg bench first``: each command starts with an empty cache, and its time is divided by that of a unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from warpreg_workbench.bench import first

SECONDS = {"warm": 100.0, "import numpy": 0.5}


def test_times_are_in_units_and_caches_empty_but_for_byte_code(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[tuple[bool, bool]] = []

    def seconds(arguments: Sequence[str], cache: str, installed: str = "") -> float:
        folder = Path(cache)
        if "warpreg" in arguments and "warm" not in arguments:
            measured.append((bool(installed), (folder / "cores").exists()))
            assert (folder / "bytecode").exists()
        for kind in ("cores", "bytecode"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        found = [value for name, value in SECONDS.items() if name in arguments]
        return found[0] if found else 2.0 if installed else 20.0

    monkeypatch.setattr(first, "processor_seconds", seconds)
    monkeypatch.setattr(first, "python", lambda *arguments: None)
    monkeypatch.setattr(first, "host", dict)
    figures = first.first()
    assert measured == [(True, False)] * 9 + [(False, False)] * 3
    assert figures["warm_s"] == 100.0
    assert (figures["first_run_ratio"], figures["bare_run_ratio"]) == (4.0, 40.0)
    assert (figures["first_comparison_s"], figures["bare_comparison_s"]) == (2.0, 20.0)
