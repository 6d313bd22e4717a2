"""LTRF: what prefetches move (ASPLOS 2018), and code with a cache of its own leaves the same memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.test_placement_check import FORMS
from tests.codegen import random_code
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs

from warpreg import codegen, ptx
from warpreg.checks.corruption import trials
from warpreg.checks.placement_check import check_placement
from warpreg.codegen import CompileOptions
from warpreg.counting.counts import Counts
from warpreg.designs import load
from warpreg.designs.parts.intervals.expand import checked_intervals
from warpreg.designs.parts.intervals.formation import intervals_of
from warpreg.ir.kernel import Kernel
from warpreg.replay import replay
from warpreg.simt import Device

LTRF = load("ltrf")
THREE = [op("add.s32", r(1), r(0), r(0)), op("add.s32", r(2), r(1), r(0)), op("add.s32", r(4), r(3), r(2))]


def counted(code: Kernel, blocks: list[int], **parameters: Any) -> Counts:
    return replay(one_warp(blocks), code, LTRF, mode="interpreted", **parameters)


def moved(counts: Counts) -> tuple[int, int]:
    """Fetched and written back."""
    return counts.moved("MRF", "RC"), counts.moved("RC", "MRF")


def test_what_two_working_sets_share_stays() -> None:
    """Three entries: {R0, R1, R2}, then {R2, R3, R4}.  R1 was written and is written back; R2 stays."""
    counts = counted(kernel(THREE), [0], entries=3)
    assert moved(counts) == (3 + 2, 1)
    assert counts.events == {"prefetches": 2, "reloads": 0}
    assert (counts.reads("RC"), counts.writes("RC"), counts.reads("MRF"), counts.writes("MRF")) == (6, 3, 0, 0)


def test_dead_values_are_neither_fetched_nor_written_back_with_liveness() -> None:
    """R1 and R2 are written before they are read, R4 too; at the second interval, R1 is dead."""
    assert moved(counted(kernel(THREE), [0], entries=3, liveness=True)) == (1 + 1, 0)


def test_a_loop_that_fits_is_fetched_once() -> None:
    """Ten rounds of {R0, R1} between {R5, R6}: one prefetch before, one for the loop, one behind it."""
    ends = [op("add.s32", r(5), r(6), r(6))]
    code = kernel(ends, [op("add.s32", r(1), r(0), r(1))], ends, successors=((1,), (1, 2), ()))
    counts = counted(code, [0, *[1] * 10, 2], entries=2)
    assert (counts.events["prefetches"], moved(counts)) == (3, (6, 2))


def test_an_instruction_that_does_not_fit_accesses_the_main_register_file() -> None:
    """What it needs is written back before."""
    code = kernel([op("mov.b32", r(1), r(0)), op("mad.lo.s32", r(5), r(1), r(2), r(3))])
    counts = counted(code, [0], entries=2)
    assert (moved(counts), counts.reads("MRF"), counts.writes("MRF")) == ((2, 1), 3, 1)


@pytest.mark.parametrize(("cells", "level"), [("sram", "MRF"), ("tfet", "TFET")])
def test_the_cells_of_the_main_register_file_are_a_level(cells: str, level: str) -> None:
    counts = counted(kernel(THREE), [0], entries=3, cells=cells, capacity=2, vectors=100)
    assert counts.moved(level, "RC") == 5
    sizes = {one.level: one.registers for one in counts.structures[:2]}
    assert sizes == {"MRF": 0, "TFET": 0} | {level: 200}


@settings(max_examples=25, deadline=None)
@given(runs(), st.integers(4, 10), st.booleans())
def test_conservation(run: tuple[Kernel, Recorded], entries: int, liveness: bool) -> None:
    """Each operand is accessed once; nothing is written back that was not fetched or written."""
    code, path = run
    counts = replay(path, code, LTRF, mode="interpreted", entries=entries, liveness=liveness)
    plain = replay(path, code, "mrf", mode="interpreted")
    assert counts.reads("MRF") + counts.reads("RC") == plain.reads()
    assert counts.writes("MRF") + counts.writes("RC") == plain.writes()
    fetched, back = moved(counts)
    assert back <= fetched + counts.writes("RC")
    assert fetched <= entries * counts.events["prefetches"]


def test_off_it_counts_as_the_plain_register_file() -> None:
    counts = counted(kernel(THREE), [0], entries=0)
    assert (moved(counts), counts.reads("MRF"), counts.writes("MRF")) == ((0, 0), 6, 3)


def test_explanations_name_the_working_sets() -> None:
    code = kernel(THREE)
    values = LTRF.configure(entries=3)
    found = LTRF.explain(LTRF.program(code, values), values, code)
    assert found == {0: "interval 0: R0 R1 R2", 2: "interval 1: R2 R3 R4"}


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 5), st.integers(4, 12), st.booleans())
def test_random_kernels_leave_the_same_memory(seed: int, branches: int, entries: int, liveness: bool) -> None:
    module = ptx.parse(random_code.text(seed, FORMS, branches=branches))
    code = codegen.translate(module, "k", CompileOptions(predicate=bool(seed % 2)))
    checked = checked_intervals(code, intervals_of(code, entries), liveness)
    assert checked.findings() == []

    class Tainted(Device):
        def install(self, kernel: Kernel, _: Any = None) -> None:
            super().install(kernel, checked.taints)

    assert random_code.memory_of(module, checked.kernel, seed, Tainted) == random_code.memory_of(module, code, seed)


@pytest.mark.slow
def test_a_workload_runs_from_the_cache_and_errors_are_detected() -> None:
    check_placement("reduction", "tiny", "ltrf", entries=8, liveness=True)
    found = list(trials(["hotspot"], 6, "ltrf"))
    assert any(trial.message for trial in found)
    assert all(trial.message or trial.equivalent for trial in found)
