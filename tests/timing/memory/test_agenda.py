"""Order of events: by cycle; within a cycle, events of the memory system first, then those of SMs, by SM."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.timing.memory.systems import CACHED

from warpreg.timing import memory as m
from warpreg.timing.core.typed import NEVER
from warpreg.timing.memory import agenda, heap
from warpreg.timing.memory.memory_columns import nodes

SMS = 4
distances = st.one_of(st.integers(0, 5), st.integers(60, 70), st.integers(4090, 4100), st.integers(0, 20_000))
"""From the cycle of the event that was taken last: days lie up to 4096 cycles ahead."""
plans = st.lists(st.tuples(distances, st.one_of(st.none(), st.integers(0, SMS - 1))), max_size=6)


@given(st.lists(plans, max_size=12))
def test_events_are_taken_in_order_whenever_they_were_planned(rounds: list[list[tuple[int, int | None]]]) -> None:
    """In each round some are planned, then one is taken; at the end all that are left."""
    memory = m.build(CACHED, SMS, 1000.0, 100, 150)
    waiting: list[tuple[int, int, int, int]] = []
    planned, now = 0, 0
    for plan in rounds:
        for distance, sm in plan:
            time, planned = now + distance, planned + 1
            if sm is not None and any(entry[:3] == (time, 1, sm) for entry in waiting):
                continue
            node = heap.new_node(memory, sm or 0, m.LOAD, 0, 15, m.NONE)
            if sm is None:
                agenda.plan(memory, time, nodes.REPLY, node)
                waiting.append((time, 0, planned, node))
            else:
                agenda.plan_by_sm(memory, time, nodes.ARRIVE, node)
                waiting.append((time, 1, sm, node))
        now = taken(memory, waiting, now)
    while waiting:
        now = taken(memory, waiting, now)
    assert agenda.next_planned(memory) == NEVER


def taken(memory: m.Memory, waiting: list[tuple[int, int, int, int]], now: int) -> int:
    """Take the next event; the cycle in which it happens."""
    if not waiting:
        return now
    first = min(waiting)
    waiting.remove(first)
    time = int(agenda.next_planned(memory))
    assert (time, int(agenda.take(memory, time))) == (first[0], first[3])
    return time
