"""Machine code on disk: reused, and rebuilt when a dependency has changed or the entry is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from piecewise_numba import recipe
from piecewise_numba.compiler import compiler
from piecewise_numba.natives import Function
from warpreg.cache import store
from warpreg.cache.directory import CacheWarning

ROOT = Path(__file__).parents[2]
WORDS = (np.arange(3),)

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
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "WARPREG_CACHE": str(folder / "cache"), "PYTHONPATH": paths}
    command = [sys.executable, "-c", dedent(SCRIPT)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_an_edit_between_two_processes_is_seen_and_no_edit_compiles_nothing(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("LEVEL = 1\n", encoding="utf-8")
    (tmp_path / "design.py").write_text(DESIGN, encoding="utf-8")
    assert reads_in_a_fresh_process(tmp_path) == "0 2 0"
    first = set((tmp_path / "cache" / "cores").iterdir())
    assert reads_in_a_fresh_process(tmp_path) == "0 2 0"
    assert set((tmp_path / "cache" / "cores").iterdir()) == first
    (tmp_path / "helper.py").write_text("OTHER = 5\nLEVEL = 2\n", encoding="utf-8")
    assert reads_in_a_fresh_process(tmp_path) == "0 0 2"
    second = set((tmp_path / "cache" / "cores").iterdir())
    assert len(second) == len(first) + 1
    (tmp_path / "helper.py").write_text("OTHER = 6\n# nothing of this matters\nLEVEL = 2\n", encoding="utf-8")
    assert reads_in_a_fresh_process(tmp_path) == "0 0 2"
    assert set((tmp_path / "cache" / "cores").iterdir()) == second


def total(words: Any) -> int:
    found = 0
    for word in words:
        found += word
    return found


class Cache:
    """Compiles `total` as a new process would, and counts how often it really did."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.builds = folder, 0
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("WARPREG_CACHE", str(folder))
        chosen = type(compiler())
        begin = chosen.begin

        def counted(self_: Any, *arguments: Any) -> Any:
            self.builds += 1
            return begin(self_, *arguments)

        monkeypatch.setattr(chosen, "begin", counted)

    def entry(self, function: Function = total) -> Function:
        self._monkeypatch.setattr(recipe, "_loaded", {})
        self._monkeypatch.setattr(recipe, "_by_digest", {})
        return recipe.compiled(function, WORDS)

    @property
    def file(self) -> Path:
        (file,) = (self.folder / "cores").iterdir()
        return file


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    return Cache(tmp_path, monkeypatch)


def test_a_function_is_compiled_once_and_its_file_bears_its_name(cache: Cache) -> None:
    assert [cache.entry()(*WORDS) for _ in range(3)] == [3] * 3
    assert cache.builds == 1
    assert cache.file.name.startswith("total-")


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes()[:-1] + b"?"),
    ],
    ids=["gone", "empty", "cut", "changed"],
)
def test_damaged_machine_code_is_built_again(cache: Cache, damage: Callable[[Path], object]) -> None:
    cache.entry()
    damage(cache.file)
    assert cache.entry()(*WORDS) == 3
    assert cache.builds == 2
    cache.entry()
    assert cache.builds == 2


def test_a_failed_build_leaves_nothing_behind(cache: Cache) -> None:
    def wrong(words: Any) -> Any:
        return words + "one"

    with pytest.raises(recipe.CompileError):
        cache.entry(wrong)
    assert not (cache.folder / "cores").exists()


def test_without_a_cache_directory_each_process_compiles(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache.folder / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WARPREG_CACHE", str(cache.folder / "file"))
    store._warn.cache_clear()
    with pytest.warns(CacheWarning, match="nothing is kept in cache"):
        assert cache.entry()(*WORDS) == 3
    assert cache.entry()(*WORDS) == 3
    assert cache.builds == 2
