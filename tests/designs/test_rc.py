"""The register cache shared by the warps of a scheduler (CASES 2018, section III-A)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.naive_cache import as_counter
from tests.replay.naive_register_cache import register_cache_counts
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs
from tests.replay.schedules import Scheduling, schedules

from warpreg.energy import account, load
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, ReplayError, replay
from warpreg.trace.schedule import Schedule

options = st.fixed_dictionaries(
    {"lines": st.integers(0, 16)},
    optional={
        "private": st.booleans(),
        "active_warps": st.integers(1, 3),
        "allocate_sources": st.booleans(),
        "brief_first": st.booleans(),
        "sets_by": st.sampled_from(["register-and-warp", "register"]),
        "partial": st.sampled_from(["merge", "ignore"]),
    },
)


ALL_SWITCHES = {"private": True, "allocate_sources": True, "brief_first": True, "sets_by": "register"}
"""Each from its default; a core is compiled for each choice of switches."""


def interpreted(path: Recorded, code: Kernel, schedule: Schedule, **chosen: Any) -> Counts:
    return replay(path, code, "rc", schedule=schedule, mode="interpreted", **chosen)


def counts(*code: Instruction, **chosen: Any) -> Counts:
    """One warp runs straight code once, in slot 0, active all the time."""
    path, kernel_of_it = one_warp([0]), kernel(list(code))
    schedule = Scheduling().start(0).active(0).issue(0, len(code)).end(0).of(kernel_of_it, path)
    return interpreted(path, kernel_of_it, schedule, **chosen)


def test_results_enter_and_misses_do_not_fill() -> None:
    found = counts(op("mov.b32", r(1), 5), op("add.s32", r(2), r(1), r(0)), op("add.s32", r(3), r(1), r(0)))
    assert (found.reads("RC"), found.reads("MRF")) == (2, 2)
    assert (found.writes("RC"), found.writes("MRF")) == (3, 0)


def test_the_line_of_a_set_that_was_used_longest_ago_is_evicted() -> None:
    """One set of two lines."""
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("add.s32", r(3), r(1), 1),  # R1 hits; R3 evicts R2
        op("add.s32", r(4), r(2), r(1)),  # R2 misses, R1 hits for the last time and goes: R4 has its line
        op("add.s32", r(5), r(3), r(4)),  # both hit and go
        lines=2,
    )
    assert (found.reads("RC"), found.reads("MRF"), found.moved("RC", "MRF")) == (4, 1, 1)


def test_a_set_is_that_of_the_register_s_number() -> None:
    """Two sets: R0, R2 and R4 share one, and R1 is alone in the other."""
    code = [op("mov.b32", r(i), i) for i in (1, 0, 2, 4)]
    found = counts(*code, op("mad.lo.s32", r(3), r(0), r(1), r(2)), op("mov.b32", r(5), r(4)), lines=4)
    assert (found.reads("RC"), found.reads("MRF")) == (3, 1)


def test_a_value_that_was_read_for_the_last_time_leaves() -> None:
    found = counts(op("mov.b32", r(1), 1), op("mov.b32", r(2), r(1)), op("mov.b32", r(3), r(2)), lines=2)
    assert found.moved("RC", "MRF") == 0


def test_sources_that_miss_may_enter_clean() -> None:
    code = (op("add.s32", r(1), r(0), 1), op("add.s32", r(2), r(0), r(1)), op("add.s32", r(3), r(0), r(2)))
    found = counts(*code, lines=8, allocate_sources=True)
    assert (found.reads("MRF"), found.reads("RC"), found.events["fills"]) == (1, 4, 1)
    assert found.writes("RC") == 3 + 1


def test_a_value_for_the_next_instruction_only_may_enter_as_the_first_to_go() -> None:
    code = (
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),  # for the next instruction only
        op("add.s32", r(3), r(0), r(2)),  # R2 has gone when R3 enters
        op("add.s32", r(4), r(1), r(3)),
    )
    assert (
        counts(*code, lines=2, brief_first=True).as_dict()["accesses"] == counts(*code, lines=2).as_dict()["accesses"]
    )


TWO = kernel([op("mov.b32", r(1), 1)], [op("mov.b32", r(2), r(1)), op("mov.b32", r(3), r(1))])
BOTH = Recorded().thread_block().warp(0).visits(0, 1).warp(1).visits(0, 1)


def turns(first: int, second: int) -> Scheduling:
    """Two warps issue one instruction each, then the rest."""
    taken = Scheduling().start(first, 0, 0).start(second, 0, 1).active(first, second)
    return taken.issue(first).issue(second).issue(first, 2).issue(second, 2).end(first, second)


def test_warps_of_a_scheduler_take_lines_from_each_other_and_others_do_not() -> None:
    """Two lines for each of two schedulers.  Slots 0 and 2 share them: R1 and R1, then R2 of the first warp evicts the
    R1 of the second, which misses twice.  Slots 0 and 1 do not."""
    together = interpreted(BOTH, TWO, lines=2, schedule=turns(0, 2).of(TWO, BOTH))
    apart = interpreted(BOTH, TWO, lines=2, schedule=turns(0, 1).of(TWO, BOTH))
    assert (together.reads("RC"), together.reads("MRF")) == (2, 2)
    assert (apart.reads("RC"), apart.reads("MRF")) == (4, 0)


SUM = kernel([op("mov.b32", r(1), 1), op("mov.b32", r(3), 3)], [op("add.s32", r(5), r(1), r(3))])


def test_warps_in_the_same_code_meet_in_a_set_if_sets_go_by_the_register_alone() -> None:
    """Two sets of two lines, all registers odd.  The warps use a set each, or share one: then the second's R1 and R3
    evict the first's, whose R5 evicts an R1; of four reads only that of the second's R3 hits."""
    schedule = Scheduling().start(0, 0, 0).start(2, 0, 1).active(0, 2)
    schedule.issue(0, 2).issue(2, 2).issue(0).issue(2).end(0, 2)
    apart, together = (
        interpreted(BOTH, SUM, lines=4, sets_by=index, schedule=schedule.of(SUM, BOTH))
        for index in ("register-and-warp", "register")
    )
    assert (apart.reads("RC"), apart.moved("RC", "MRF")) == (4, 0)
    assert (together.reads("RC"), together.reads("MRF"), together.moved("RC", "MRF")) == (1, 3, 3)


LOADED = kernel(
    [op("ld.global.u32", r(1), at(pair(8)))],
    [op("mov.b32", r(2), 2), op("mov.b32", r(3), 3)],
    [op("add.s32", r(4), r(1), r(1))],
    successors=((1, 2), (2,), ()),
)
ONE_LOADS = Recorded().thread_block().warp(0).visits(0, 2).warp(1).visits(1)


def loading(*, swaps: bool = False) -> Scheduling:
    """The first warp loads, and the second fills two lines before the data arrive; with swaps there is one active
    warp."""
    schedule = Scheduling().start(0, 0, 0).start(2, 0, 1).active(0).issue(0)
    if swaps:
        schedule.suspended(0)
    schedule.active(2).issue(2, 2).arrive(0, 0).end(2)
    return (schedule.active(0) if swaps else schedule).issue(0).end(0)


def test_a_load_enters_when_it_arrives() -> None:
    """One set of two lines.  R2 and R3 are evicted by nothing while the load is under way; R1 evicts R2 and is read
    there twice; R4 takes its line.  The address comes from the MRF."""
    found = interpreted(ONE_LOADS, LOADED, lines=2, schedule=loading().of(LOADED, ONE_LOADS))
    assert (found.reads("RC"), found.reads("MRF")) == (2, 2)
    assert (found.writes("RC"), found.writes("MRF"), found.moved("RC", "MRF")) == (4, 0, 1)


def test_what_arrives_for_a_warp_without_a_part_goes_to_the_mrf() -> None:
    """R1 arrives while the other warp has the only part, and is read from the MRF."""
    own: dict[str, Any] = {"lines": 2, "private": True, "active_warps": 1}
    found = interpreted(ONE_LOADS, LOADED, schedule=loading(swaps=True).of(LOADED, ONE_LOADS), **own)
    assert (found.reads("RC"), found.reads("MRF")) == (0, 4)
    assert (found.writes("RC"), found.writes("MRF"), found.events["without_part"]) == (3, 1, 1)


def test_private_parts_keep_warps_apart_and_are_flushed() -> None:
    own: dict[str, Any] = {"lines": 4, "private": True, "active_warps": 2}
    assert interpreted(BOTH, TWO, schedule=turns(0, 2).of(TWO, BOTH), **own).reads("RC") == 4
    swapped = Scheduling().start(0, 0, 0).active(0).issue(0).suspended(0).start(2, 0, 1).active(2).issue(2, 3).end(2)
    swapped.active(0).issue(0, 2).end(0)
    found = interpreted(BOTH, TWO, schedule=swapped.of(TWO, BOTH), **own)
    assert (found.events["flushed"], found.moved("RC", "MRF")) == (1, 1)
    assert (found.reads("RC"), found.reads("MRF")) == (2, 2)


def test_a_warp_without_a_part_goes_to_the_mrf() -> None:
    schedule = turns(0, 2).of(TWO, BOTH)
    found = interpreted(BOTH, TWO, schedule=schedule, lines=4, private=True, active_warps=1)
    assert (found.events["without_part"], found.reads("MRF"), found.reads("RC")) == (3, 2, 2)


def test_lanes_that_a_line_lacks_come_from_the_mrf() -> None:
    found = counts(when(p(0), op("mov.b32", r(1), 1)), op("mov.b32", r(2), r(1)))
    assert (found.reads("RC"), found.reads("MRF"), found.events["merged_reads"]) == (1, 1, 1)


def test_it_needs_a_schedule() -> None:
    with pytest.raises(ReplayError, match=r"rc: depends on the order of warps \(scheduler\), so it needs a recorded"):
        replay(BOTH, TWO, "rc")


def test_its_energy_needs_no_level_of_the_technology() -> None:
    found = counts(op("mov.b32", r(1), 5), op("add.s32", r(2), r(1), r(1)))
    assert set(account(found.energy_list(), load("gebhart-40nm")).levels()) == {"RC"}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), runs(), options)
def test_counts_equal_those_of_lists_that_are_searched(
    data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]
) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    found, baseline = interpreted(path, code, schedule, **chosen), replay(path, code, "mrf")
    assert as_counter(found) == register_cache_counts(code, path, schedule, **chosen)
    assert found.reads() == baseline.reads() + found.events["merged_reads"]
    assert found.writes() == baseline.writes() + found.events["fills"]
    if chosen["lines"] < 2:
        assert found.as_dict()["accesses"] == baseline.as_dict()["accesses"]


@pytest.mark.slow
@pytest.mark.parametrize("switches", [{}, ALL_SWITCHES], ids=["defaults", "all"])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), run=runs(), lines=st.integers(0, 16), active_warps=st.integers(1, 3))
def test_compiled_code_counts_the_same(
    switches: dict[str, Any], data: st.DataObject, run: tuple[Kernel, Recorded], lines: int, active_warps: int
) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    chosen: dict[str, Any] = {"lines": lines, "active_warps": active_warps, **switches}
    compiled = replay(path, code, "rc", schedule=schedule, mode="compiled", **chosen)
    assert compiled.as_dict() == interpreted(path, code, schedule, **chosen).as_dict()
