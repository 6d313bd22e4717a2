"""An edit of a design, or of a module that it imports, takes effect in the timing core of the next process.

The compiled code is that of the small core, which is built, keyed and cached like the whole core.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sass.vector_add import write_vector_add
from tests.timing import small_core

import warpreg
from piecewise_numba import recipe
from warpreg.timing import simulate
from warpreg.timing.launch import compile as native

ROOT = Path(__file__).parents[2]
BESIDE = "SIGN = {sign}\n\n\ndef signed(number):\n    return SIGN * number\n"
DESIGN = """
from typing import NamedTuple
from numpy.typing import NDArray
import numpy as np
from beside import signed
from warpreg.designs.interface import *
DESIGN = Declaration(slot="policy", source="assumed: a test")
class State(NamedTuple):
    unused: NDArray[np.int64]
def init(parameters, program):
    return State(per_warp(np.int64(0)))
@hook
def priority(state, program, warp, pc):
    return signed({factor} * warp)
"""
SCRIPT = """
import sys
import warpreg
from tests.timing import small_core
from warpreg.timing import simulate
from warpreg.timing.launch import compile as native

native.run = small_core.run
launches = warpreg.read_trace(sys.argv[1]).launches
print(simulate(launches, "gebhart", designs=["design.py"]).cycles)
"""


class Author:
    """Writes two files, and times with them in a fresh process."""

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder, self.cache = folder, cache or folder / "cache"
        self.trace = write_vector_add(folder, 32)

    def writes(self, factor: int, sign: int) -> None:
        (self.folder / "design.py").write_text(DESIGN.format(factor=factor), encoding="utf-8")
        (self.folder / "beside.py").write_text(BESIDE.format(sign=sign), encoding="utf-8")

    def times(self) -> int:
        """Which warps go first."""
        paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        environment = {**os.environ, "WARPREG_CACHE": str(self.cache), "PYTHONPATH": paths}
        command = [sys.executable, "-c", SCRIPT, str(self.trace)]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True, timeout=600
        )
        return int(done.stdout)

    @property
    def cores(self) -> int:
        """Compiled timing cores on disk."""
        return len(list((self.cache / "cores").glob("with_designs-*")))

    @property
    def functions(self) -> int:
        """Compiled functions on disk, each without those that it calls."""
        return len(list((self.cache / "pieces").iterdir()))


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


@pytest.mark.slow
def test_an_edit_between_two_processes_is_seen(author: Author) -> None:
    author.writes(factor=1, sign=1)
    assert (author.times(), author.cores) == (small_core.SECOND, 1)
    functions = author.functions
    author.writes(factor=0, sign=1)
    assert (author.times(), author.cores, author.functions) == (small_core.BOTH, 2, functions + 1)
    author.writes(factor=1, sign=-1)
    assert (author.times(), author.cores, author.functions) == (small_core.FIRST, 3, functions + 2)


@pytest.mark.slow
def test_a_copy_of_a_design_elsewhere_has_a_core_of_its_own(author: Author) -> None:
    author.writes(factor=1, sign=1)
    author.times()
    (author.folder / "copy").mkdir()
    copy = Author(author.folder / "copy", author.cache)
    copy.writes(factor=1, sign=1)
    assert (copy.times(), copy.cores) == (small_core.SECOND, 2)


@pytest.mark.slow
@pytest.mark.parametrize("beside", [[], ["orf-lrf"]], ids=["alone", "composed"])
def test_a_design_that_is_loaded_again_shares_its_core(
    author: Author, monkeypatch: pytest.MonkeyPatch, beside: list[str]
) -> None:
    author.writes(factor=1, sign=1)
    monkeypatch.setattr(native, "run", small_core.run)
    monkeypatch.setattr(recipe, "_by_digest", {})
    launches = warpreg.read_trace(author.trace).launches
    for _ in range(2):
        simulate(launches, "gebhart", designs=[*beside, str(author.folder / "design.py")])
    assert len([key for key, entry in recipe._by_digest.items() if "with_designs" in vars(entry)["code"].symbol]) == 1
