"""Compiled cores on disk: found again, rebuilt when anything they depend on changed or is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from warpreg.jit.core_cache import CORE, MANIFEST, stored

SRC = Path(__file__).parents[2] / "src"
ROOT = Path(__file__).parents[2]

DESIGN = """
from helper import LEVEL
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "A", "B"), source="assumed: a test")
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, LEVEL)
"""

SCRIPT = """
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from warpreg.designs import load
from warpreg.replay import replay
found = replay(one_warp([0]), kernel([op("add.s32", r(1), r(0), r(0))]), load("design.py"))
print(found.reads("MRF"), found.reads("A"), found.reads("B"))
"""


def reads_in_a_fresh_process(folder: Path) -> str:
    environment = {**os.environ, "WARPREG_CACHE": str(folder / "cache"), "PYTHONPATH": f"{SRC}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", dedent(SCRIPT)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_edit_between_two_processes_is_seen_and_no_edit_compiles_nothing(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("LEVEL = 1\n", encoding="utf-8")
    (tmp_path / "design.py").write_text(DESIGN, encoding="utf-8")
    assert reads_in_a_fresh_process(tmp_path) == "0 2 0"
    first = set((tmp_path / "cache" / "cores").iterdir())
    assert reads_in_a_fresh_process(tmp_path) == "0 2 0"
    assert set((tmp_path / "cache" / "cores").iterdir()) == first
    (tmp_path / "helper.py").write_text("LEVEL = 2\n", encoding="utf-8")
    assert reads_in_a_fresh_process(tmp_path) == "0 0 2"
    assert len(set((tmp_path / "cache" / "cores").iterdir())) == 2


class Builder:
    """Stands in for the compiler: leaves one result beside the core, counts how often it really built."""

    def __init__(self) -> None:
        self.builds = 0

    def __call__(self, core: Path) -> str:
        result = core.parent / "__pycache__" / "walk.nbc"
        if not result.exists():
            self.builds += 1
            result.parent.mkdir()
            result.write_text("object code", encoding="utf-8")
        return result.read_text(encoding="utf-8")


@pytest.fixture
def cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    return tmp_path / "cores"


def test_a_core_is_built_once(cores: Path) -> None:
    build = Builder()
    assert [stored("d1", "text", build) for _ in range(3)] == ["object code"] * 3
    assert build.builds == 1
    assert [path.name for path in cores.iterdir()] == ["d1"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda core: (core / MANIFEST).unlink(),
        lambda core: (core / MANIFEST).write_text("{", encoding="utf-8"),
        lambda core: (core / CORE).write_text("tex", encoding="utf-8"),
        lambda core: (core / "__pycache__" / "walk.nbc").write_text("object cod", encoding="utf-8"),
        lambda core: (core / "__pycache__" / "walk.nbc").unlink(),
    ],
    ids=["no manifest", "cut manifest", "changed text", "cut result", "no result"],
)
def test_a_damaged_core_is_built_again(cores: Path, damage: Callable[[Path], object]) -> None:
    build = Builder()
    stored("d1", "text", build)
    damage(cores / "d1")
    assert stored("d1", "text", build) == "object code"
    assert build.builds == 2
    stored("d1", "text", build)
    assert build.builds == 2


def test_a_failed_build_leaves_nothing_behind(cores: Path) -> None:
    def fail(core: Path) -> None:
        raise ValueError(core.name)

    with pytest.raises(ValueError, match=CORE):
        stored("d1", "text", fail)
    assert list(cores.iterdir()) == []


def test_a_core_that_another_process_has_put_there_meanwhile_stays(cores: Path) -> None:
    build = Builder()

    def while_another_finishes(core: Path) -> str:
        stored("d1", "text", build)
        return Builder()(core)

    stored("d1", "text", while_another_finishes)
    assert stored("d1", "text", build) == "object code"
    assert build.builds == 1


def test_without_a_cache_directory_the_core_is_built_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "file"))
    build = Builder()
    assert [stored("d1", "text", build) for _ in range(2)] == ["object code"] * 2
    assert build.builds == 2
