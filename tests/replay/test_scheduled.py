"""Replay in the order of a recorded schedule, and suspensions without one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay import naive
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs
from tests.replay.schedules import ONE_SM, Scheduling, schedules

from warpreg.designs import Design, load
from warpreg.ir.kernel import Kernel
from warpreg.replay import ReplayError, replay, replay_launches
from warpreg.trace import Schedule, Slots, TraceError, visits

TWO_BLOCKS = kernel([op("mov.b32", r(1), 1)], [op("add.s32", r(2), r(1), r(1)), op("add.s32", r(1), r(2), r(1))])
TWO_WARPS = Recorded().thread_block(0).warp(0).visits(0, 1).warp(1).visits(0)

PROBE = """
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", order="sm", source="assumed: a test",
                     events=("switches", "sm_issues", "swaps", "leaves", "pairs", "starts", "ends", "blocks"))
SWITCHES, SM_ISSUES, SWAPS, LEAVES, PAIRS, STARTS, ENDS, BLOCKS = range(8)
class State(NamedTuple):
    last: object
    issues: object
    own: object
    both: object
def init(parameters, program):
    return State(per_scheduler(np.int64(-1)), per_sm(np.int64(0)), per_warp(np.int64(0)), per_pair(np.int64(0)))
@hook
def warp_start(state, program, warp, plan):
    state.both[pair_of(program, warp)] += 1
@hook
def issued(state, program, warp, pc, plan):
    if state.last[scheduler_of(program, warp)] != warp:
        count(plan, SWITCHES)
    state.last[scheduler_of(program, warp)] = warp
    state.issues[sm_of(program, warp)] += 1
    count(plan, SM_ISSUES, state.issues[sm_of(program, warp)])
    state.own[warp] += 1
    count(plan, PAIRS, state.both[pair_of(program, warp)])
@hook
def warp_end(state, program, warp, plan):
    count(plan, ENDS, state.own[warp])
@hook
def block_start(state, program, sm, plan):
    count(plan, BLOCKS, 1 + sm)
@hook
def block_end(state, program, sm, plan):
    count(plan, LEAVES, state.issues[sm])
@hook
def activated(state, program, warp, plan):
    count(plan, STARTS, 1 + scheduler_of(program, warp))
@hook
def suspended(state, program, warp, plan):
    count(plan, SWAPS, state.own[warp])
"""


def expected_of_the_probe(code: Kernel, path: Recorded, schedule: Schedule) -> Counter[str]:
    """The probe's events, from the naive reading of the schedule."""
    found: Counter[str] = Counter()
    last: dict[int, int] = {}
    own: Counter[int] = Counter()
    both: Counter[int] = Counter()
    issues: Counter[int] = Counter()
    highest: dict[int, int] = {}
    for visit in visits(path.path_chunks()):
        highest[visit.thread_block] = max(highest.get(visit.thread_block, 0), visit.warp)
    left: Counter[int] = Counter()
    for event in naive.events(code, path, schedule):
        sm = event.slot // schedule.slots.warps
        if event.kind == "start":
            own[event.slot] = 0
            both[event.slot // 2] += 1
            if event.thread_block not in left:
                left[event.thread_block] = highest[event.thread_block] + 1
                found["blocks"] += 1 + sm
        elif event.kind == "issue":
            found["switches"] += last.get(event.scheduler) != event.slot
            last[event.scheduler] = event.slot
            issues[sm] += 1
            found["sm_issues"] += issues[sm]
            found["pairs"] += both[event.slot // 2]
            own[event.slot] += 1
        elif event.kind == "end":
            found["ends"] += own[event.slot]
            left[event.thread_block] -= 1
            if left[event.thread_block] == 0:
                found["leaves"] += issues[sm]
        elif event.kind == "activate":
            found["starts"] += 1 + event.scheduler
        elif event.kind == "suspend":
            found["swaps"] += own[event.slot]
    return found


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Design:
    file = tmp_path_factory.mktemp("designs") / "probe.py"
    file.write_text(dedent(PROBE), encoding="utf-8")
    return load(file, checked=False)


@pytest.mark.slow
def test_warps_take_turns_as_the_schedule_says(probe: Design) -> None:
    """Slots 0 and 2 share scheduler 0: warp 0 issues once, warp 1 once, warp 0 its other two: three switches."""
    schedule = Scheduling().start(0, 0, 0).start(2, 0, 1).issue(0).issue(2).issue(0, 2).end(0, 2)
    found = replay(TWO_WARPS, TWO_BLOCKS, probe, schedule=schedule.of(TWO_BLOCKS, TWO_WARPS))
    assert found.warp_instructions == 4
    assert found.events["switches"] == 3
    assert found.events["sm_issues"] == 1 + 2 + 3 + 4
    assert found.events["ends"] == 3 + 1


@pytest.mark.slow
def test_a_warp_finds_its_instructions_whatever_slot_it_is_in() -> None:
    """The cache of one entry holds R1, then R2 and R1: the reads hit in any order of warps."""
    schedule = Scheduling().start(3, 0, 1).issue(3).end(3).start(3, 0, 0).issue(3, 3).end(3)
    found = replay(TWO_WARPS, TWO_BLOCKS, "rfc", entries=1, schedule=schedule.of(TWO_BLOCKS, TWO_WARPS))
    alone = replay(TWO_WARPS, TWO_BLOCKS, "rfc", entries=1)
    assert found.as_dict() == alone.as_dict()


@pytest.mark.slow
def test_thread_blocks_may_start_in_any_order_and_some_not_at_all() -> None:
    path = Recorded().thread_block(4).warp(0).visits(0).thread_block(9).warp(0).visits(0, 1).thread_block(2).visits(0)
    schedule = Scheduling().start(0, 2).start(1, 9).issue(1, 3).issue(0).end(0, 1)
    assert replay(path, TWO_BLOCKS, "mrf", schedule=schedule.of(TWO_BLOCKS, path)).warp_instructions == 4


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data(), runs())
def test_events_are_those_of_the_naive_reading(
    probe: Design, data: st.DataObject, run: tuple[Kernel, Recorded]
) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    found = replay(path, code, probe, schedule=schedule)
    assert {name: n for name, n in found.events.items() if n} == dict(+expected_of_the_probe(code, path, schedule))
    assert found.warp_instructions == sum(1 for _ in naive.steps(code, path))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data(), runs())
def test_order_means_nothing_to_a_cache_of_each_warp(data: st.DataObject, run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path, may_swap=False))
    with_it, without = replay(path, code, "rfc", schedule=schedule), replay(path, code, "rfc")
    assert with_it.as_dict() == without.as_dict()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.data(), runs())
def test_plain_python_counts_the_same(probe: Design, data: st.DataObject, run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    compiled, plain = (replay(path, code, probe, schedule=schedule, mode=m) for m in ("compiled", "interpreted"))
    assert compiled.as_dict() == plain.as_dict()


@pytest.mark.slow
def test_launches_start_afresh_and_add_up(probe: Design) -> None:
    schedule = Scheduling().start(0, 0, 0).issue(0, 3).end(0).start(1, 0, 1).issue(1).end(1).of(TWO_BLOCKS, TWO_WARPS)
    once = replay(TWO_WARPS, TWO_BLOCKS, probe, schedule=schedule)
    both = replay_launches([(TWO_WARPS, schedule)] * 2, TWO_BLOCKS, probe)
    assert both.events == {name: 2 * n for name, n in once.events.items()}
    assert both.warp_instructions == 2 * once.warp_instructions


@pytest.mark.slow
def test_memory_stays_bounded_when_blocks_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended warps had is dropped, and those still running find theirs again."""
    monkeypatch.setattr("warpreg.replay.warp_streams.MIN_WORDS", 4)
    path, schedule = Recorded(), Scheduling()
    for thread_block in range(20):
        path.thread_block(thread_block).warp(0).visits(0).warp(1).visits(0, 1).cut()
    schedule.start(0, 0, 1).issue(0, 2)
    for thread_block in range(1, 20):
        schedule.start(1, thread_block, 0).issue(1).end(1).start(1, thread_block, 1).issue(1, 3).end(1)
    schedule.issue(0).end(0)
    found = replay(path, TWO_BLOCKS, "mrf", schedule=schedule.of(TWO_BLOCKS, path))
    assert found.warp_instructions == 3 + 19 * 4


WRONG = {
    "names slot 4, an SM has 4": Scheduling().start(4),
    "goes to SM 1, the machine has 1": Scheduling().sm(1).start(0),
    "no record is of kind 7": Scheduling().start(0).words(7),
    "slot 0 holds no warp": Scheduling().issue(0),
    "starts a warp in slot 0, which holds one": Scheduling().start(0).start(0, 0, 1),
    "starts a warp of thread block 3, which the path lacks": Scheduling().start(0, 3),
    "starts warp 2 of thread block 0, which has no such warp": Scheduling().start(0, 0, 2),
    "starts warp 0 of thread block 0 for the second time": Scheduling().start(0).start(1),
    "issues 4 instructions from slot 0, whose warp has fewer left": Scheduling().start(0).issue(0, 4),
    "ends the warp in slot 0, which has instructions left": Scheduling().start(0).issue(0, 2).end(0),
    "activates the warp in slot 0, which is active": Scheduling().start(0).active(0, 0),
    "suspends the warp in slot 0, which is not active": Scheduling().start(0).suspended(0),
    "lets results of instruction 3 arrive, which the kernel lacks": Scheduling().start(0).arrive(0, 3),
    "the record is cut off at the end of the chunk": Scheduling().words(1),
    "the schedule stops before the warp in slot 2 of SM 0 has ended": Scheduling().start(2).issue(2),
}


@pytest.mark.parametrize("expected", WRONG)
def test_a_schedule_that_does_not_fit_the_run_is_refused(expected: str) -> None:
    with pytest.raises(ReplayError, match=expected):
        replay(TWO_WARPS, TWO_BLOCKS, "mrf", schedule=WRONG[expected].of(TWO_BLOCKS, TWO_WARPS))


def test_a_schedule_of_another_run_is_refused() -> None:
    schedule = Scheduling().of(TWO_BLOCKS, one_warp([0]))
    with pytest.raises(TraceError, match="its path differs"):
        replay(TWO_WARPS, TWO_BLOCKS, "mrf", schedule=schedule)


def test_launches_of_two_machines_or_without_a_schedule_are_refused() -> None:
    ended = Scheduling().start(0).issue(0).end(0)
    path = one_warp([0])
    other = Scheduling(Slots(1, 8, 1)).of(TWO_BLOCKS, path)
    with pytest.raises(ReplayError, match="of another machine"):
        replay_launches([(path, ended.of(TWO_BLOCKS, path)), (path, other)], TWO_BLOCKS, "mrf")
    with pytest.raises(ReplayError, match="1 of 2 launches have no schedule"):
        replay_launches([(path, ended.of(TWO_BLOCKS, path)), (path, None)], TWO_BLOCKS, "mrf")


def test_a_path_with_a_thread_block_twice_has_no_schedule() -> None:
    path = Recorded().thread_block(0).warp(0).visits(0).thread_block(0).visits(0).thread_block(1).visits(0)
    with pytest.raises(ReplayError, match="the path has a thread block twice"):
        replay(path, TWO_BLOCKS, "mrf", schedule=Scheduling().start(0, 1).of(TWO_BLOCKS, path))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Recorded().warp(0).visits(0), r"path word 0 .*: expected the start of a thread block"),
        (Recorded().thread_block().warp(0).visits(2), r"path word 3 .*: visits block 2, the kernel has 2"),
        (Recorded().thread_block().warp(32), r"path word 2 .*: switches to warp 32"),
    ],
)
def test_a_path_that_is_not_of_this_kernel_is_refused(path: Recorded, expected: str) -> None:
    with pytest.raises(ReplayError, match=expected):
        replay(path, TWO_BLOCKS, "mrf", schedule=Scheduling().start(0).of(TWO_BLOCKS, path))


def test_a_design_that_depends_on_order_needs_a_schedule(probe: Design) -> None:
    with pytest.raises(ReplayError, match=r"probe: depends on the order of warps \(sm\), so it needs a recorded"):
        replay(TWO_WARPS, TWO_BLOCKS, probe)


def test_a_design_of_sm_scope_needs_the_order_of_an_sm(probe: Design) -> None:
    schedule = Scheduling(order="scheduler").start(0).of(TWO_BLOCKS, TWO_WARPS)
    with pytest.raises(ReplayError, match="probe needs the order of an SM, the schedule keeps a scheduler's"):
        replay(TWO_WARPS, TWO_BLOCKS, probe, schedule=schedule)


FLUSHES = """
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", source="assumed: a test", events=("activations", "suspensions"))
@hook
def activated(state, program, warp, plan):
    count(plan, 0)
@hook
def suspended(state, program, warp, plan):
    count(plan, 1)
"""


@pytest.mark.slow
def test_without_a_schedule_warps_suspend_where_they_may_have_to_wait(tmp_path: Path) -> None:
    """Two uses of a loaded value: the first suspends.  Two warps, one of which goes round twice."""
    code = kernel([op("ld.global.u32", r(1), at(pair(2))), op("add.s32", r(0), r(1), 1), op("add.s32", r(0), r(1), 2)])
    (tmp_path / "flushes.py").write_text(dedent(FLUSHES), encoding="utf-8")
    path = Recorded().thread_block().warp(0).visits(0, 0).warp(1).visits(0)
    design = load(tmp_path / "flushes.py")
    assert replay(path, code, design, suspend="static").events == {"activations": 2 + 3, "suspensions": 3}
    assert replay(path, code, design).events == {"activations": 0, "suspensions": 0}


def test_one_sm_is_the_machine_of_these_tests() -> None:
    assert (ONE_SM.total_warps, ONE_SM.sms * ONE_SM.schedulers) == (4, 2)
