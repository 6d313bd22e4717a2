"""Registers shared by warps of two thread blocks, owner warps first (thesis of 2021, §4.2, §4.4.3).

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4, and R8 and above are shared.  A thread block
is placed in each cycle, in places 0 and 1, which share; a warp placed in cycle ``t`` issues from ``t + 1`` on, and its
results are there 4 cycles after their issue.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import code
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.placed import placed
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Sm
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed

from warpreg import gpu
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.designs.interface.residency import Launch, Residency, Room
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.thread_blocks.places import NOBODY
from warpreg.designs.sharing.owf import Sharing

FERMI = gpu.load("regmutex-gtx480")
A_SCHEDULER = Sm(slots=4)


def sharing(warps: int, blocks: int = 2, sections: int = 1) -> Design:
    return placed("owf", Sharing(8, sections=sections), blocks, warps)


def run_of(text: str, blocks: int, design: Design) -> Timed:
    """Each thread block is a warp that runs the code."""
    launched = Launched(code(text), ((WarpPath(((0, FULL),)),),) * blocks)
    return agreed(launched, A_SCHEDULER, resident=2, design=design)


def test_a_lock_until_the_warp_ends() -> None:
    """Thread block 0 locks at 1; thread block 1, placed at 1, is refused at 2.  The owner issues its last at 5 and ends
    at 9, so that the other one asks again at 10.

    Of the 3 accesses of a warp, 2 are of R8.  Each is checked for a shared warp and a shared register, R8 for the lock.
    """
    run = run_of("mov.b32 R8, 1\nmov.b32 R0, R8", 2, sharing(warps=1))
    run.warp(0, block=0).issues().at(1, 5)
    run.warp(0, block=1).issues().at(10, 14)
    assert events(run, load("owf")) == {"locks": 2, "refused": 1, "checks": 2 * (3 * 2 + 2)}
    assert run.stalls.counts["token"] == 10 - 2


def test_a_thread_block_that_shares_with_nobody_has_one_check_an_access() -> None:
    run = run_of("mov.b32 R8, 1\nmov.b32 R0, R8", 2, sharing(warps=1, sections=2))
    run.warp(0, block=1).issues().at(2, 6)
    assert events(run, load("owf")) == {"locks": 0, "refused": 0, "checks": 2 * 3}


CROSSED = ("mov.b32 R8, 1\nbar.sync 0\nmov.b32 R1, 1", "mov.b32 R1, 1\nbar.sync 0\nmov.b32 R8, 1")


def test_crossed_first_touches_and_barriers() -> None:
    """Warp 0 of one thread block and warp 1 of the other come to their shared registers first, and each other warp
    only after a barrier.  With locks of pairs alone, both thread blocks would wait for each other.
    """
    kernel = code(*CROSSED)
    first, second = WarpPath(((0, FULL),)), WarpPath(((1, FULL),))
    launched = Launched(kernel, ((first, second), (second, first)))
    run = agreed(launched, A_SCHEDULER, resident=2, design=sharing(warps=2))
    assert run.warp(1, block=1).issues().first > run.warp(0, block=0).issues().last
    assert events(run, load("owf"))["locks"] == 4


def test_the_next_thread_block_does_not_overtake_the_one_that_waits() -> None:
    """Three thread blocks in two places: the second owns when the first has ended, and the third waits for it."""
    run = run_of("mov.b32 R8, 1\nmov.b32 R0, R8", 3, sharing(warps=1))
    run.warp(0, block=1).issues().at(10, 14)
    assert run.warp(0, block=2).issues().first == 14 + 4 + 1
    assert events(run, load("owf"))["locks"] == 3


def test_owners_go_first() -> None:
    """Thread block 0 locks at 1.  At 3, 4 and 5 both could issue, and the owner does."""
    text = "mov.b32 R8, 1\nmov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1"
    kernel = code(text, text.replace("R8", "R0"))
    launched = Launched(kernel, ((WarpPath(((0, FULL),)),), (WarpPath(((1, FULL),)),)))
    run = agreed(launched, A_SCHEDULER, resident=2, design=sharing(warps=1))
    run.warp(0, block=0).issues().at(1, 2, 3, 4)
    run.warp(0, block=1).issues().at(5, 6, 7, 8)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(case=cases, first=st.integers(0, 10), sections=st.integers(1, 2))
def test_no_run_stands_still(case: Case, first: int, sections: int) -> None:
    """Whatever the thread blocks do, both cores agree, all end, and nothing is owned at the end."""
    warps_of_each = len(case.launched.blocks[0])
    resident = min(case.resident, case.sm.slots // warps_of_each, 2 * sections)
    design = placed("owf", Sharing(first, sections=min(sections, resident)), resident, warps_of_each)
    run = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, resident, design)
    state = dict(named_leaves(run.outcome.state))
    for name in ("at", "block", "owner"):
        assert (state[name] == NOBODY).all()
    assert not state["left"].any()


def rooms(registers: int, threads: int = 256, shared_bytes: int = 0, **values: float) -> Room:
    design = load("owf")
    program = program_table(code("mov.b32 R0, 1"))._replace(register_count=registers)
    return design.room(design.configure(**values), program, FERMI, Launch(threads, shared_bytes))


def test_what_unshared_thread_blocks_leave_holds_the_own_registers_of_more() -> None:
    """44 registers a warp: two thread blocks of 8 warps take 704 of 1024.  The other 320 hold the 5 own registers (a
    tenth, rounded up) of two more: at most as many as have sections.
    """
    found = rooms(44)
    assert (found.blocks, found.residency.registers, found.pool) == (4, 5, 1024 - 4 * 8 * 5)
    assert isinstance(found.residency, Sharing)
    assert found.residency.sections == 2
    assert rooms(24).blocks == 6  # 5 x 192 leave 64: two more at 3 own registers, of which warp slots allow one


def test_other_limits_and_the_threshold_decide_too() -> None:
    assert rooms(20).residency == Residency(20)
    assert rooms(44, threshold=1.0).residency == Residency(44)
    assert rooms(44, shared_bytes=16 * 1024).blocks == 3
    assert rooms(44, threshold=0.5).blocks == 3  # 320 registers hold 8 warps of 22 once
    assert rooms(32).residency == Residency(32)  # four thread blocks take all 1024


def test_a_thread_block_that_does_not_fit_does_not_fit() -> None:
    assert rooms(60, threads=1024).blocks == 0


def test_storage() -> None:
    """48 warps share or not, with one of 48, and each of 24 pairs has a lock and an owner: 48 * (1 + 6) + 24 * 2."""
    design = load("owf")
    tables = design.tables(design.configure(), FERMI).values()
    assert sum(one.entries * one.bits for one in tables) == 384
    assert design.hardware(design.configure(threshold=1.0), FERMI) == ()


def test_tables_are_written_with_warps_and_locks() -> None:
    """Each of two warps comes once, and takes a lock and gives it back."""
    run = run_of("mov.b32 R8, 1\nmov.b32 R0, R8", 2, sharing(warps=1))
    assert run.outcome.counts.tables[:2].tolist() == [[0, 2, 0], [0, 2 * 2, 0]]


def test_a_wrong_threshold() -> None:
    with pytest.raises(DesignError, match="owf: parameter threshold expects float from 0 to 1"):
        load("owf").configure(threshold=1.5)
