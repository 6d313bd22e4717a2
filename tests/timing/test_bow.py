"""Bypassing operand collectors in time (thesis, section 3.4), worked by hand on both cores.

Four banks by register; a collector takes one operand per cycle, and an ALU takes 4.  An instruction issued at ``t``
enters its collector at ``t + 1``, requests banks from ``t + 2`` on, and dispatches in the cycle after its last read.
Its result arrives 4 cycles later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_designs import run_of
from tests.timing.vocabulary import Timed

from warpreg.designs import DesignError, load

BOW, BOW_WR = load("bow"), load("bow-wr")
BANKED = Sm(slots=4, banks=Banks(count=4, mapping="register", operand_ports=1))
MOVES = "\n".join(f"mov.b32 R{register}, 1" for register in (1, 2, 3, 4, 5))
LOAD = "ld.global.u32 R4, [R0]"


def events(run: Timed) -> dict[str, int]:
    """The counters of a run of either design."""
    return dict(zip(BOW.events, run.outcome.counts.events.tolist(), strict=True))


def test_forwarded_sources_need_no_bank_and_no_port() -> None:
    """R0 and R4 share bank 0 and are read at 3 and 4; R1 arrives at 9.  Both sources of the second instruction are in
    the collector: it issues at 9, enters at 10, dispatches at 11, and R2 arrives at 15."""
    text = "add.s32 R1, R0, R4\nadd.s32 R2, R1, R0\nmov.b32 R5, R2"
    run = agreed(one_warp(text), BANKED, design=BOW)
    run.warp(0).issues().at(1, 9, 15)
    run.bank(0).reads("R0").at(3)
    run.bank(0).reads("R4").at(4)
    run.bank(1).reads("R1").at()
    run.bank(1).writes("R1").at(9)


def test_a_plain_collector_reads_them_again() -> None:
    run = agreed(one_warp("add.s32 R1, R0, R4\nadd.s32 R2, R1, R0\nmov.b32 R5, R2"), BANKED, design=BOW, window=1)
    run.warp(0).issues().at(1, 9, 17)  # R0 and R1 share the port: read at 11 and 12
    run.bank(0).reads("R0").at(3, 11)
    run.bank(1).reads("R1").at(12)


def test_a_register_that_leaves_takes_its_bank() -> None:
    """Window 2: R1 arrives at 7, and its reader issues at 7.  The next but one issues at 14: R1 leaves, and bank 1
    writes it in the next cycle."""
    text = "mov.b32 R1, 1\nmov.b32 R2, R1\nmov.b32 R3, R2\nmov.b32 R5, R3"
    run = agreed(one_warp(text), BANKED, design=BOW_WR, hints=False, window=2)
    run.warp(0).issues().at(1, 7, 13, 19)
    run.bank(1).extras("R1").at(20)
    run.bank(2).extras("R2").at()
    assert run.outcome.counts.moves[1, 0] == 1
    agreed(one_warp(text), BANKED, design=BOW_WR, window=2).bank(1).extras("R1").at()


def test_results_that_arrive_after_their_window_go_to_the_mrf() -> None:
    """Window 3: the moves issue at 1 to 5 and arrive from 7 on, when 5 instructions have issued.  The windows of the
    first two have passed at 7 and 8, and that of the third at 9; the last two are still inside."""
    run = agreed(one_warp(MOVES), BANKED, design=BOW_WR, hints=False)
    run.warp(0).issues().at(1, 2, 3, 4, 5)
    assert events(run)["late"] == 2
    assert run.outcome.counts.accesses.reshape(-1, 2, 2).sum(axis=2).tolist() == [[0, 2], [0, 3]]


@pytest.mark.parametrize("others", [1, 2, 3])
def test_a_load_is_late_if_its_warp_goes_on(others: int) -> None:
    """Window 3: with 2 more instructions the load is still inside when it arrives, but not when the third one reads
    it."""
    text = "\n".join([LOAD, *[f"mov.b32 R{5 + i}, 1" for i in range(others)], "mov.b32 R9, R4"])
    run = agreed(one_warp(text, Access(FULL, "global", 0, ((0, 15),))), BANKED, design=BOW)
    assert events(run)["late"] == (others == 3)
    assert len(run.bank(0).reads("R4").cycles) == (others >= 2)


def test_entries_in_use_are_summed_over_cycles() -> None:
    """R0 enters when the first instruction issues at 1, R1 at 7; the warp ends when R2 arrives at 13."""
    run = agreed(one_warp("mov.b32 R1, R0\nmov.b32 R2, R1"), BANKED, design=BOW)
    start, arrives, ends = 1, 8, 14
    run.warp(0).issues().at(start, arrives)
    assert run.outcome.counts.integrals(run.cycles)[0] == [arrives - start + 2 * (ends - arrives), 0]


def test_each_warp_has_its_own_collector() -> None:
    """Warp 1 finds nothing of what warp 0 has read."""
    run = agreed(warps("mov.b32 R1, R0\nadd.s32 R2, R1, R0", [()], [()]), BANKED, design=BOW)
    assert run.outcome.counts.accesses.reshape(-1, 2, 2).sum(axis=2)[:, 0].tolist() == [2, 4]


def test_collectors_smaller_than_the_operands_of_an_instruction() -> None:
    with pytest.raises(DesignError, match=r"bow: entries expects at least 3, the sources of one .*, found 2"):
        agreed(one_warp("mad.lo.s32 R5, R0, R1, R2"), BANKED, design=BOW, entries=2)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases, st.sampled_from([BOW, BOW_WR]))
def test_a_window_of_1_is_the_baseline(case: Case, design: Any) -> None:
    off, without = run_of(case, design, window=1), run_of(case)
    assert off.outcome.issues == without.outcome.issues
    assert (off.cycles, off.stalls) == (without.cycles, without.stalls)
    assert off.outcome.counts.accesses[:4].tolist() == without.outcome.counts.accesses.tolist()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases, st.sampled_from([BOW, BOW_WR]), st.integers(2, 4), st.sampled_from([0, 8]), st.integers(0, 3))
def test_both_cores_agree(case: Case, design: Any, window: int, entries: int, reading: int) -> None:
    """Every instruction issues, and both cores end alike."""
    sm = replace(case.sm, slots=min(case.sm.slots, 32))
    agreed(
        case.launched,
        sm,
        case.latency,
        case.interval,
        case.sms,
        case.resident,
        design,
        window=window,
        entries=entries,
        reading=reading,
    )
