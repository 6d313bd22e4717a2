"""Wrong usage: one message, the nearest name, the right exit status, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import click
import pytest

from warpreg.cli import app, main
from warpreg.ir.errors import WarpregError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lst"], "did you mean 'list'"),
        (["compair"], "did you mean 'compare'"),
        (["frobnicate"], "there are: run, compare"),
        (["list", "workload"], "did you mean 'workloads'"),
        (["list", "--jsn"], "--json"),
        (["bench", "spin"], "did you mean 'spine'"),
    ],
)
def test_wrong_usage_is_status_2_and_suggests_the_nearest_name(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (WarpregError("kernel.ptx:3: what is wrong"), 1, "warpreg: kernel.ptx:3: what is wrong\n"),
        (OSError(28, "No space left on device", "demo/rfc.png"), 1, "warpreg: demo/rfc.png: No space left on device\n"),
        (KeyboardInterrupt(), 130, "warpreg: interrupted\n"),
        (MemoryError(), 1, "warpreg: out of memory; a smaller --size may fit\n"),
    ],
)
def test_each_failure_has_its_status_and_one_message(
    raised: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @click.command()
    def fails() -> None:
        raise raised

    monkeypatch.setattr(app.Commands, "get_command", lambda self, ctx, name: fails)
    assert main(["run"]) == status
    assert capsys.readouterr().err.lstrip("\n") == message


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "warpreg, version 0.1.0\n"


@pytest.mark.parametrize("subject", ["workloads", "designs", "machines", "technologies", "opcodes"])
def test_a_list_as_json_names_everything(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", subject, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(row.get("name") or row.get("syntax") for row in rows)


@pytest.mark.slow
def test_the_first_answer_needs_neither_compiler_nor_plots() -> None:
    script = "import sys; from warpreg.cli import main; main(['list', 'machines']); print(sorted(sys.modules))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert not {"numba", "pandas", "matplotlib"} & set(done.stdout.split("'"))
