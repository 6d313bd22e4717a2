"""Register packing and virtualization on schedules, against the model, and by hand (thesis §2.2, §2.4.3, §2.6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.naive import steps
from tests.replay.naive_renaming import renaming_counts
from tests.replay.paths import Recorded
from tests.replay.random_runs import runs
from tests.replay.schedules import schedules

from warpreg.designs import load
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay
from warpreg.trace.schedule import Schedule

EVENTS = ("multiple_sources", "coalesced", "placed", "grown", "carried", "released")
DESIGNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("packing", {}),
    ("packing", {"coalesce": True, "adjacent": False}),
    ("packing", {"virtualization": True, "coalesce": True}),
    ("virtualization", {}),
    ("corf", {"encoding": "free"}),
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


def widths(code: Kernel, path: Recorded) -> st.SearchStrategy[list[int]]:
    """One for each result word on a path."""
    count = sum(len(step.writes) for step in steps(code, path))
    return st.lists(st.integers(1, 4), min_size=count, max_size=count)
