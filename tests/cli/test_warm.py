"""``warpreg warm``: keeps compiled code and nothing else, and says in one line what stops it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from piecewise_numba.processor import levels
from warpreg.cache import store
from warpreg.cli import main

Output = pytest.CaptureFixture[str]


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that it runs; each leaves an entry of every kind in the cache that it is given."""
    commands: list[tuple[str, ...]] = []

    def run(command: Sequence[str], env: dict[str, str], **more: Any) -> subprocess.CompletedProcess[str]:
        commands.append(tuple(command[3:]))
        assert env["WARPREG_COMPILED"] == str(tmp_path / "installed")  # what is there is not compiled again
        name = env.get("NUMBA_CPU_NAME", "host")
        for kind in ("cores", "pieces", "types", "units", "objects", "results", "kernels"):
            monkeypatch.setenv("WARPREG_CACHE", env["WARPREG_CACHE"])
            store.write(kind, f"{kind}-{name}-{len(commands)}", b"content")
        if name == "stopped":
            raise KeyboardInterrupt
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("subprocess.run", run)
    return commands


def kinds(folder: Path) -> set[str]:
    return {place.name for place in folder.iterdir()}


def test_it_runs_profiles_machines_and_all_designs_and_keeps_code(
    tmp_path: Path, called: list[tuple[str, ...]], capsys: Output
) -> None:
    folder = tmp_path / "installed"
    assert main(["warm", "--machine", "v100", "--output", str(folder), "-j", "1", "--json"]) == 0
    assert called == [
        ("run", "hotspot", "--size", "tiny"),
        ("run", "hotspot", "--size", "tiny", "--cycles", "--machine", "v100"),
        ("compare", "hotspot", "--size", "tiny", "--designs", "all", "--recompute", "-j", "1"),
    ]
    assert kinds(folder) == {"cores", "pieces", "types", "units", "objects"}
    assert json.loads(capsys.readouterr().out)["entries"] == 15
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*/*")} == {0o644}  # other users read it
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*")} == {0o755}


def test_what_is_in_the_folder_stays(tmp_path: Path, called: list[tuple[str, ...]]) -> None:
    folder = tmp_path / "installed"
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "a").touch()
    assert main(["warm", "--output", str(folder)]) == 0
    assert kinds(folder) == {"cores", "pieces", "types", "units", "objects", "results"}
    assert kinds(folder / "results") == {"a"}


def test_what_is_compiled_before_ctrl_c_is_kept(
    tmp_path: Path, called: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CPU_NAME", "stopped")
    assert main(["warm", "--output", str(tmp_path / "installed")]) == 130
    assert kinds(tmp_path / "installed") == {"cores", "pieces", "types", "units", "objects"}


def test_code_for_a_level_is_without_that_of_the_host(tmp_path: Path, called: list[tuple[str, ...]]) -> None:
    if not levels():
        pytest.skip("levels are those of x86-64")
    assert main(["warm", "--processor", "x86-64-v2", "--output", str(tmp_path / "installed")]) == 0
    assert kinds(tmp_path / "installed") == {"cores", "pieces", "types", "units"}
    assert all("x86-64-v2" in path.name for path in (tmp_path / "installed").glob("*/*"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--machine", "v10"], "no machine named 'v10'"),
        (["--processor", "x86-64-v1"], "'x86-64-v1' is not one of"),
        (["--output", "/proc/nowhere"], "/proc/nowhere: No such file or directory"),
    ],
)
def test_what_cannot_be_compiled_is_one_line(options: list[str], message: str, capsys: Output) -> None:
    assert main(["warm", *options]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_level_that_the_host_lacks_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("warpreg.cli.warm.processors.levels", lambda: ())
    assert main(["warm", "--processor", "x86-64-v4"]) == 2
    assert "--processor: this host is no x86-64-v4" in capsys.readouterr().err


def test_a_command_that_fails_ends_it_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "first line\nwarpreg: out of memory\n")
    monkeypatch.setattr("subprocess.run", lambda *command, **more: failed)
    assert main(["warm", "--output", str(tmp_path / "installed")]) == 1
    assert capsys.readouterr().err.splitlines() == ["warpreg: out of memory"]
