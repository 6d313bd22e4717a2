"""Register packing and virtualization on schedules, against the model, and by hand (thesis §2.2, §2.4.3, §2.6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, r, when
from tests.replay.naive import steps
from tests.replay.naive_renaming import PAIRED, renaming_counts
from tests.replay.paths import FULL, Recorded
from tests.replay.random_runs import runs
from tests.replay.schedules import Scheduling, schedules

from warpreg.designs import load
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay
from warpreg.trace.schedule import Schedule

LATE_SIDE = kernel(
    [op("mov.u32", r(3), 1), op("setp.lt.s32", p(0), r(0), 5), when(p(0), op("bra"))],
    [op("ld.global.u32", r(3), at(r(4))), op("bra")],
    [op("mov.u32", r(5), 2), op("st.shared.u32", at(r(4)), r(3))],
    successors=((2, 1), (2,), ()),
)
"""Lanes that go round block 1 keep the R3 of block 0."""
EVENTS = ("multiple_sources", "coalesced", "placed", "grown", "carried", "released", *PAIRED)
DESIGNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("packing", {}),
    ("packing", {"coalesce": True, "adjacent": False}),
    ("packing", {"virtualization": True, "coalesce": True}),
    ("packing", {"virtualization": True, "coalesce": True, "search": "warp"}),
    ("virtualization", {}),
    ("corf", {"encoding": "free"}),
    ("corf", {"encoding": "free", "search": "warp", "renaming_stages": 0}),
    ("corf", {"encoding": "free", "virtualization": False, "reserve": False}),
    ("corf-pp", {"encoding": "free"}),
    ("corf-pp", {"encoding": "free", "warp_banks": False, "alignment": "optimum"}),
)
PHYSICAL = 80
"""Warps of an SM (5) times registers (10), and some more; in 4 banks of 20, which the warps of one may fill."""


def interpreted(design: str, path: Recorded, code: Kernel, schedule: Schedule, **chosen: Any) -> Counts:
    return replay(path, code, design, schedule=schedule, mode="interpreted", **chosen)


def counted(counts: Counts) -> dict[str, int]:
    found = {"MRF reads": counts.reads("MRF"), "MRF writes": counts.writes("MRF")}
    return {name: amount for name, amount in (found | {e: counts.events[e] for e in EVENTS}).items() if amount}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chosen"), DESIGNS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_replay_counts_what_the_model_does(name: str, chosen: dict[str, Any], data: st.DataObject) -> None:
    code, path = data.draw(runs())
    path.widths(*data.draw(widths(code, path)))
    design = load(name)
    values = design.configure(physical=PHYSICAL, **chosen)
    schedule = data.draw(schedules(code, path))
    found = interpreted(name, path, code, schedule, physical=PHYSICAL, **chosen)
    assert counted(found) == dict(renaming_counts(design, values, code, path, schedule))
    assert found.events["unplaced"] == 0


@pytest.mark.parametrize(("mask", "chosen", "carried"), [(0xFF, {}, 1), (FULL, {}, 0), (0xFF, {"carry": False}, 0)])
def test_lanes_of_a_value_that_moves_are_read_while_others_are_inactive(
    mask: int, chosen: dict[str, Any], carried: int
) -> None:
    """The load outgrows R3.  It arrives when the warp has all its lanes again, but had those of block 1 at issue.  Its
    own sources, those of the comparison and of the store are four reads.
    """
    path = Recorded().thread_block().warp(0).visits(0).visits(1, mask=mask).visits(2).widths(1, 4, 1)
    schedule = Scheduling().start(0).issue(0, 3).issue(0, 2).issue(0).arrive(0, 3).issue(0).end(0).of(LATE_SIDE, path)
    found = counted(interpreted("packing", path, LATE_SIDE, schedule, physical=PHYSICAL, **chosen))
    assert found.get("carried", 0) == carried
    assert (found["grown"], found["MRF reads"], found["MRF writes"]) == (1, 4 + carried, 3)


def test_a_guard_may_leave_lanes_alone_though_all_are_active() -> None:
    """R3 grows to two bytes where P0 holds, and is read afterwards."""
    guarded = [op("mov.u32", r(3), 1), when(p(0), op("mov.u32", r(3), 300)), op("st.shared.u32", at(r(4)), r(3))]
    code, path = kernel(guarded), Recorded().thread_block().warp(0).visits(0).widths(1, 2)
    schedule = Scheduling().start(0).issue(0, 3).end(0).of(code, path)
    assert counted(interpreted("packing", path, code, schedule, physical=PHYSICAL))["carried"] == 1


def test_the_steps_from_opportunity_to_coalescing() -> None:
    """R1 is read twice with R2, its buddy, and once with R4, of four bytes.  R2 has first two bytes, then four."""
    lines = [
        op("mov.u32", r(1), 1), op("mov.u32", r(2), 300), op("mov.u32", r(4), -1), op("add.s32", r(3), r(1), r(2)),
        op("mov.u32", r(2), -1), op("add.s32", r(3), r(1), r(2)), op("add.s32", r(3), r(1), r(4)),
    ]  # fmt: skip
    code, path = kernel(lines), Recorded().thread_block().warp(0).visits(0).widths(1, 2, 4, 2, 4, 4, 4)
    schedule = Scheduling().start(0).issue(0, 7).end(0).of(code, path)
    events = interpreted("corf", path, code, schedule, physical=PHYSICAL, encoding="free", survey=True).events
    steps_ = ("multiple_sources", "coalesceable", "matched", "fitting", "coalesced")
    assert [events[step] for step in steps_] == [3, 1, 2, 1, 1]
    assert events["operands"] == 3 * 2 + 7


def widths(code: Kernel, path: Recorded) -> st.SearchStrategy[list[int]]:
    """One for each result word on a path."""
    count = sum(len(step.writes) for step in steps(code, path))
    return st.lists(st.integers(1, 4), min_size=count, max_size=count)
