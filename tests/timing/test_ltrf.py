"""LTRF in time: prefetches in closed form, switches of warps, and random launches on both cores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm, TwoLevel
from tests.timing.test_designs import run_of

from warpreg.designs import load

LTRF = load("ltrf")
BANKED = Sm(banks=Banks(count=4, mapping="register"))
THREE = "add.s32 R1, R0, R0\nadd.s32 R2, R1, R0\nadd.s32 R4, R3, R2"


@pytest.mark.parametrize("latency", [1, 8, 40])
def test_a_prefetch_takes_its_banks_its_bandwidth_and_the_latency(latency: int) -> None:
    """{R0, R1, R2} is fetched at 1: read at 2, sets out at 2, 3 and 4, the last is there at 4 + L.  The first add
    issues in the next cycle I, is dispatched at I + 2 from the cache, and has its result at I + 6: the second issues.

    R2 is there at I + 12.  Then R1 leaves, and R3 and R4 come, read from banks 3 and 0 at I + 13: they set out then
    and a cycle later.  R1 sets out at I + 12, comes at I + 12 + L and is written a cycle later.
    """
    run = agreed(one_warp(THREE), BANKED, design=LTRF, entries=3, per_cycle=1.0, path_latency=latency)
    first = 4 + latency + 1
    run.warp(0).issues().at(first, first + 6, first + 14 + latency + 1)
    run.bank(1).extras("R1").at(2, first + 13 + latency)


def test_a_path_of_four_registers_a_cycle_brings_four_at_once() -> None:
    run = agreed(one_warp(THREE), BANKED, design=LTRF, entries=4, path_latency=8)
    run.warp(0).issues().at(2 + 8 + 1, 2 + 8 + 7, 2 + 8 + 7 + 6 + 2 + 8)


def test_a_warp_that_leaves_the_active_set_takes_its_registers_along() -> None:
    """One active warp.  The load suspends it: what was written in the cache (R1) is written back, and all of its
    working set {R0, R1, R2, R3} comes again when it enters.  R3 is not there yet: it is written to the main file.
    """
    text = "add.s32 R1, R0, R0\nmov.b32 R3, R1\nld.global.u32 R2, [R0]\nadd.s32 R3, R2, R1"
    two_level = replace(BANKED, two_level=TwoLevel(active_warps=1))
    reads = Access(FULL, "global", 0, ((0, 15),))
    run = agreed(warps(text, [(reads,)], [(reads,)]), two_level, design=LTRF, entries=4)
    counts = run.outcome.counts
    assert counts.events.tolist() == [2, 2]
    assert counts.moves[0, 2] == 2 * (4 + 4)
    assert counts.moves[2, 0] == 2 * 1
    assert counts.accesses.reshape(-1, 2, 2).sum(axis=2)[:, 1].tolist()[0] == 2 * 2


@settings(max_examples=15, deadline=None)
@given(cases)
def test_without_entries_it_is_the_baseline(case: Case) -> None:
    off, without = run_of(case, LTRF, entries=0), run_of(case)
    assert off.outcome.issues == without.outcome.issues
    assert (off.cycles, off.stalls) == (without.cycles, without.stalls)


@settings(max_examples=25, deadline=None)
@given(cases, st.integers(2, 10), st.booleans(), st.sampled_from([0.25, 1.0, 4.0]), st.integers(1, 20))
def test_both_cores_agree(case: Case, entries: int, liveness: bool, per_cycle: float, latency: int) -> None:
    """Every instruction issues, and both cores end alike."""
    agreed(
        case.launched,
        case.sm,
        case.latency,
        case.interval,
        case.sms,
        case.resident,
        LTRF,
        entries=entries,
        liveness=liveness,
        per_cycle=per_cycle,
        path_latency=latency,
    )
