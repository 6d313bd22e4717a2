"""A design in a file outside the package: the example of the README."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.designs.kernels import at, kernel, op, p, r, when
from tests.replay.paths import one_warp

from warpreg.designs import load
from warpreg.energy import account
from warpreg.energy import load as technology
from warpreg.replay import Counts, replay

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "my_design.py"

CODE = kernel(
    [
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("add.s32", r(3), r(1), r(2)),  # hits both, R1 for the last time; R3 takes the entry that R1 has left
        op("add.s32", r(4), r(2), r(3)),  # hits both for the last time; R4 takes the entry of R2
        op("mov.b32", r(6), 1),  # shares an entry with R4
        op("add.s32", r(5), r(4), r(6)),  # R4 misses, R6 hits for the last time
        op("st.shared.u32", at(r(5)), r(0)),
    ]
)


def counts(entries: int) -> Counts:
    return replay(one_warp([0]), CODE, load(EXAMPLE), entries=entries)


def test_it_takes_under_60_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.slow
def test_registers_that_share_an_entry_evict_each_other_and_dead_values_leave_for_free() -> None:
    """With two entries even registers share one, odd registers the other."""
    found = counts(entries=2)
    assert (found.reads("RFC"), found.reads("MRF")) == (6, 2)  # R1, R2 twice, R3, R6, R5; R4, R0
    assert found.moved("RFC", "MRF") == 1  # R4
    assert found.events == {"died": 5}  # R1, R3, R2, R6, R5


@pytest.mark.slow
def test_with_room_for_all_only_what_was_never_written_is_read_from_the_mrf() -> None:
    found = counts(entries=7)
    assert (found.mrf_accesses, found.moved("RFC", "MRF")) == (1, 0)


@pytest.mark.slow
def test_its_energy_is_accounted_like_any_other() -> None:
    gebhart = technology("gebhart-40nm")
    baseline = account(replay(one_warp([0]), CODE, "mrf").energy_list(), gebhart)
    assert account(counts(entries=2).energy_list(), gebhart).total_pj < baseline.total_pj


LOOP = kernel(
    [op("mov.b32", r(0), 1), op("mov.b32", r(1), 0), op("add.s32", r(2), r(0), r(0))],
    [op("add.s32", r(1), r(1), 1), op("setp.lt.s32", p(0), r(1), 5), when(p(0), op("bra", 0))],
    [op("st.shared.u32", at(r(0)), r(2))],
    successors=((1,), (1, 2), ()),
)
"""R0 has four accesses and R2 two; R1 has one, and three in each of five iterations."""


@pytest.mark.parametrize(("entries", "reads", "writes"), [(0, 0, 0), (1, 10, 6), (2, 13, 7), (3, 14, 8)])
def test_the_compiler_keeps_the_registers_of_loops_near(entries: int, reads: int, writes: int) -> None:
    """R1 is the first, then R0; the path has five iterations, as the loop's constant trip count says."""
    found = replay(one_warp([0, 1, 1, 1, 1, 1, 2]), LOOP, load(EXAMPLES / "hot_registers.py"), entries=entries)
    assert (found.reads("ORF"), found.writes("ORF")) == (reads, writes)
    assert (found.reads(), found.writes()) == (2 + 10 + 2, 3 + 5)
