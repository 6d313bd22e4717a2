"""Replay of a path: counts, ends of chunks, invalid paths, hooks at the start and end of a warp."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs

from piecewise_numba.options import Mode
from warpreg.designs import load
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel
from warpreg.replay import ReplayError, replay

TWO_BLOCKS = kernel([op("mov.b32", r(1), 1)], [op("add.s32", r(2), r(1), r(1)), op("add.s32", r(1), r(2), r(1))])


def test_every_instruction_of_a_visited_block_counts() -> None:
    found = replay(one_warp([0, 1, 1]), TWO_BLOCKS, "mrf")
    assert found.warp_instructions == 1 + 2 + 2
    assert found.reads() == 2 * 4
    assert found.writes() == 1 + 2 * 2


def test_an_empty_path_counts_nothing() -> None:
    found = replay(Recorded(), TWO_BLOCKS, "rfc")
    assert (found.warp_instructions, found.reads(), found.writes()) == (0, 0, 0)
    assert found.elided(found) == 0


def test_state_and_warp_survive_the_end_of_a_chunk() -> None:
    whole = Recorded().thread_block().warp(0).visits(0, 1).warp(1).visits(0, 1)
    parts = Recorded().thread_block().cut().warp(0).cut().visits(0).cut().visits(1, mask=None).warp(1).visits(0).cut()
    parts.visits(1, mask=None)
    assert replay(parts, TWO_BLOCKS, "rfc").as_dict() == replay(whole, TWO_BLOCKS, "rfc").as_dict()


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Recorded().thread_block().warp(0).visits(2), r"path word 3 .*: visits block 2, the kernel has 2"),
        (Recorded().warp(32), r"path word 0 .*: switches to warp 32, a thread block has at most 32"),
        (Recorded().warp(0).words(1), r"path word 1 .*: the record is cut off at the end of the chunk"),
        (Recorded().words(3), r"path word 0 .*: the record is cut off at the end of the chunk"),
        (Recorded().words(7, 0), r"path word 0 of a chunk \(0x00000007\): starts a thread block with a payload"),
    ],
)
def test_a_path_that_is_not_of_this_kernel_is_refused(path: Recorded, expected: str, mode: Mode) -> None:
    with pytest.raises(ReplayError, match=expected):
        replay(path, TWO_BLOCKS, "rfc", mode=mode)


def test_an_unknown_level_is_refused_with_the_nearest_name() -> None:
    found = replay(one_warp([0]), TWO_BLOCKS, "rfc")
    with pytest.raises(UnknownNameError, match=r"no level of rfc named 'RCF'; did you mean 'RFC'\?"):
        found.reads("RCF")


def test_elided_is_net_of_evictions() -> None:
    """MRF alone: 4 reads, 3 writes.  With one entry R1 hits twice, then R2 evicts it; R2 hits, R1 misses and evicts R2.

    So 1 read and 2 evictions reach the MRF.
    """
    path = one_warp([0, 1])
    found, baseline = replay(path, TWO_BLOCKS, "rfc", entries=1), replay(path, TWO_BLOCKS, "mrf")
    assert baseline.mrf_accesses == 4 + 3
    assert found.mrf_accesses == 1 + 2
    assert found.elided(baseline) == 1 - 3 / 7


PROBE = """
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), events=("starts", "ends", "lanes"), source="assumed: a test")
TOP, STARTS, ENDS, LANES = 1, 0, 1, 2
class State(NamedTuple):
    fresh: object
    table: object
    scale: int
def init(parameters, program):
    return State(per_warp(np.zeros((2, 3), np.int32)), np.arange(4), 10)
@hook
def warp_start(state, program, warp, plan):
    state.fresh[warp, 1, 2] += 1
@hook
def plan_reads(state, program, warp, pc, plan):
    count(plan, STARTS, state.fresh[warp, 1, 2])
    state.fresh[warp, 1, 2] = 0
    for lane in range(32):
        count(plan, LANES, (plan.mask >> lane) & 1)
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, MRF)
@hook
def warp_end(state, program, warp, plan):
    count(plan, ENDS, state.scale * state.table[1])
    move(plan, TOP, MRF)
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["checked", "interpreted"])
def test_hooks_at_the_start_and_end_of_a_warp(tmp_path: Path, mode: Mode) -> None:
    (tmp_path / "probe.py").write_text(dedent(PROBE), encoding="utf-8")
    path = Recorded().thread_block(0).warp(0).visits(0, mask=0b111).warp(2).visits(0, 1, mask=1).warp(0)
    path.visits(0, mask=None).thread_block(7).warp(0).visits(0)
    found = replay(path, TWO_BLOCKS, load(tmp_path / "probe.py", checked=False), mode=mode)
    assert found.events == {
        "starts": 3,
        "ends": 30,  # 10 * table[1] for each of three warps
        "lanes": 3 + (1 + 2) + 3 + 32,  # one mask for each instruction; warp 0 keeps its mask over a switch
    }
    assert found.moved("TOP", "MRF") == 3


WILD = """
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", source="assumed: a test")
@hook
def plan_write(state, program, warp, pc, plan):
    write(plan, 0, program.result[1000])
"""


@pytest.mark.slow
def test_the_checked_mode_catches_an_index_out_of_bounds(tmp_path: Path) -> None:
    (tmp_path / "wild.py").write_text(dedent(WILD), encoding="utf-8")
    with pytest.raises(IndexError):
        replay(one_warp([0]), TWO_BLOCKS, load(tmp_path / "wild.py", checked=False), mode="checked")


@settings(max_examples=30, deadline=None)
@given(runs())
def test_a_run_twice_counts_twice(run: tuple[Kernel, Recorded]) -> None:
    """Nothing is left over from one replay to the next, nor from one thread block to the next."""
    code, path = run
    twice = Recorded()
    for chunk in [*path.path_chunks(), *path.path_chunks()]:
        twice.words(*chunk.tolist())
    once, both = replay(path, code, "rfc", entries=3), replay(twice, code, "rfc", entries=3)
    assert (both.accesses == 2 * once.accesses).all()
    assert (both.moves == 2 * once.moves).all()
