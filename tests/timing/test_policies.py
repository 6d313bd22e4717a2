"""Order of issue: policies, schedulers, fetch, fences, queues and the distributor, derived by hand on both cores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Pipe, Sm, TwoLevel

FAST = Sm(pipes={name: Pipe(latency=3 if name == "sfu" else 1) for name in PIPES})
WAITS = "sin.approx.f32 R1, R1\nmov.b32 R2, R1"
BUSY = "mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1\nmov.b32 R4, 1"
TWO = Launched(code(WAITS, BUSY), ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))
"""Warp 0 issues in cycle 1 and could again in cycle 4; warp 1 always could."""


def line(number: int) -> tuple[int, int]:
    """A transaction of a whole line."""
    return (128 * number, 15)


@pytest.mark.parametrize(
    ("policy", "first", "second"),
    [("lrr", (1, 4), (2, 3, 5, 6)), ("oldest", (1, 4), (2, 3, 5, 6)), ("gto", (1, 6), (2, 3, 4, 5))],
)
def test_who_goes_first_when_both_could(policy: str, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """In cycle 4 warp 1 issued last: round-robin and age prefer warp 0, greedy stays with warp 1."""
    run = agreed(TWO, replace(FAST, policy=policy))
    run.warp(0).issues().at(*first)
    run.warp(1).issues().at(*second)


def test_a_fresh_warp_is_not_the_one_that_issued_last_from_its_slot() -> None:
    """A warp of each of two thread blocks; the third one takes the slot of the first.

    The first issues at 1 and, since it writes R3 again, at 5; it ends at 9, and the third may issue from 10 on.  The
    second issues at 2 and waits for 8 cycles.  At 10 slot 0 has issued last, but its warp has ended, so the second
    issues, which is older, and again at 14: all is done at 18.
    """
    pipes = {name: Pipe(latency=8 if name == "sfu" else 4) for name in PIPES}
    paths = [((0, FULL), (0, FULL)), ((1, FULL),), ((0, FULL),)]
    launched = Launched(
        code("mov.b32 R3, 1", f"{WAITS}\nmov.b32 R3, R2"), tuple((WarpPath(visits),) for visits in paths)
    )
    run = agreed(launched, Sm(slots=2, policy="gto", pipes=pipes), resident=2)
    run.warp(0, 0).issues().at(1, 5)
    run.warp(0, 1).issues().at(2, 10, 14)
    run.warp(0, 2).issues().at(11)
    assert run.cycles == 18 + 1


@pytest.mark.parametrize(("inner", "back"), [("greedy", 6), ("gto", 6), ("lrr", 4)])
def test_active_warps_take_turns_by_the_inner_policy(inner: str, back: int) -> None:
    run = agreed(TWO, replace(FAST, two_level=TwoLevel(active_warps=2, inner=inner)))
    run.warp(0).issues().at(1, back)


def test_each_scheduler_issues_for_its_own_slots() -> None:
    """Slots 0 and 2 belong to scheduler 0, 1 and 3 to scheduler 1."""
    run = agreed(warps("mov.b32 R1, 1", *[[()]] * 4), replace(FAST, schedulers=2))
    for warp, cycle in enumerate((1, 1, 2, 2)):
        run.warp(warp).issues().at(cycle)


@pytest.mark.parametrize(("private", "second"), [(True, 1), (False, 3)])
def test_a_unit_of_the_sm_serves_one_scheduler_at_a_time(private: bool, second: int) -> None:
    """Two schedulers, one instruction each, a unit that is busy for two cycles."""
    pipes = {**FAST.pipes, "int": Pipe(initiation=2, per_scheduler=private)}
    run = agreed(warps("mov.b32 R1, 1", [()], [()]), replace(FAST, schedulers=2, pipes=pipes))
    run.warp(0).issues().at(1)
    run.warp(1).issues().at(second)


@pytest.mark.parametrize("latency", [1, 5])
def test_what_follows_a_branch_is_fetched_after_its_latency(latency: int) -> None:
    run = agreed(one_warp("bra 0", times=5), replace(FAST, pipes={**FAST.pipes, "ctrl": Pipe(latency=latency)}))
    run.warp(0).issues().every(latency, first=1)


def test_a_fence_waits_for_the_acknowledgement_of_a_store() -> None:
    """Issue at 1, sent at 2, acknowledged at 22; the fence issues at 2 and holds back what follows it."""
    store = Access(FULL, "global", 0, (line(0),))
    run = agreed(one_warp("st.global.u32 [R0], R1\nmembar.gl\nmov.b32 R2, 1", store), FAST, latency=20)
    run.warp(0).issues().at(1, 2, 22)


def test_a_constant_load_hits() -> None:
    """Issue at 1, the head of the queue at 2, complete 6 cycles later."""
    run = agreed(one_warp("ld.const.u32 R1, [R0]\nmov.b32 R2, R1", Access(FULL, "constant", 1)), FAST)
    run.warp(0).issues("mov").at(2 + 6)


@pytest.mark.parametrize("transactions", [1, 4])
def test_a_full_queue_refuses_until_its_head_has_sent_all(transactions: int) -> None:
    """One place: the first store sends from 2 to 1 + transactions, and the second one takes its place in that cycle."""
    store = Access(FULL, "global", 0, tuple(line(i) for i in range(transactions)))
    run = agreed(one_warp("st.global.u32 [R0], R1", store, times=2), replace(FAST, queue=1))
    run.warp(0).issues().at(1, 1 + transactions)


def test_a_load_without_a_lane_sends_nothing() -> None:
    """Its result is due a cycle after dispatch."""
    run = agreed(one_warp("@P0 ld.global.u32 R1, [R2.64]\nmov.b32 R2, R1", Access(0, "global")), FAST)
    run.warp(0).issues().at(1, 2)


def test_an_sm_takes_one_thread_block_a_cycle() -> None:
    """Four thread blocks on two SMs: 0 and 2 on SM 0 in cycles 0 and 1, 1 and 3 on SM 1."""
    launched = Launched(code("mov.b32 R1, 1"), ((WarpPath(((0, FULL),)),),) * 4)
    run = agreed(launched, FAST, sms=2)
    for block, cycle in enumerate((1, 1, 2, 2)):
        run.on(block % 2).warp(0, block).issues().at(cycle)


def test_the_next_thread_block_comes_in_the_cycle_in_which_one_leaves() -> None:
    """Issue at 1, result at 2, and the thread block leaves; the next one is placed then and issues at 3."""
    launched = Launched(code("mov.b32 R1, 1"), ((WarpPath(((0, FULL),)),),) * 3)
    run = agreed(launched, FAST, resident=1)
    for block in range(3):
        run.warp(0, block).issues().at(1 + 2 * block)
    assert run.cycles == 3 * 2 + 1


def test_the_lanes_of_a_mask_make_no_difference_to_an_alu() -> None:
    """A divergent warp issues as often as it visits."""
    launched = Launched(code("mov.b32 R1, 1"), ((WarpPath(((0, 1), (0, FULL - 1))),),))
    agreed(launched, FAST).warp(0).issues().at(1, 2)


@pytest.mark.parametrize(
    ("barrier", "cycles"),
    [
        ("bar.sync 1", ((1, 5), (2, 6), (3, 4))),
        ("bar.sync 1, 64", ((1, 3), (2, 4), (5, 6))),
        ("bar.arrive 1, 64", ((1, 2), (3, 4), (5, 6))),
        ("bar.warp.sync -1", ((1, 2), (3, 6), (4, 5))),
    ],
)
def test_a_barrier_with_a_count_gathers_so_many_warps(barrier: str, cycles: tuple[tuple[int, int], ...]) -> None:
    """Warp 1 waits at the barrier, warp 0 waits or arrives, warp 2 comes to none; the oldest goes first.

    Without a count, or with nobody else at the barrier, warp 1 goes on when all others have nothing left.
    """
    waits = barrier if "sync 1" in barrier else "bar.sync 1, 64"
    kernel = code(f"{barrier}\nmov.b32 R1, 1", f"{waits}\nmov.b32 R1, 1", "mov.b32 R2, 1\nmov.b32 R3, 1")
    run = agreed(
        Launched(kernel, (tuple(WarpPath(((block, FULL),)) for block in range(3)),)), replace(FAST, policy="oldest")
    )
    for warp, expected in enumerate(cycles):
        run.warp(warp).issues().at(*expected)
