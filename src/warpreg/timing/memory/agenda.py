"""Event queue of the memory system: nodes by the cycle of their next event.

Each of the next cycles has a *day* with a list of nodes; later events are in a heap.  Within a cycle, events scheduled
by the memory system come first, in the order in which they were scheduled.  Events scheduled by SMs follow, ordered by
SM, whichever SM was stepped first.
"""

from __future__ import annotations

from warpreg.timing.core.prefetch import prefetch
from warpreg.timing.core.typed import NEVER, NONE, Column
from warpreg.timing.memory import heap
from warpreg.timing.memory.layout import CACHED, DAYS, WEEK, Memory
from warpreg.timing.memory.memory_columns import Nodes, days, nodes, parameters, scalars

AHEAD = 8
"""Requests of other threads between one that is prefetched and the one that is scheduled.  Chosen, not measured."""
BY_SM = 1 << (heap.ORDER_BITS - 1)


def plan(memory: Memory, time: int, stage: int, node: int) -> None:
    """Schedule the next event of a node at ``time``, after those already scheduled for that time."""
    memory.scalars[scalars.SEQUENCE] += 1
    key = heap.key_of(time, memory.scalars[scalars.SEQUENCE] & (BY_SM - 1))
    if _has_day(memory, time, key, stage, node):
        day = time & (DAYS - 1)
        last = memory.days[day, days.LAST_OF_DAY]
        if last == 0:
            memory.days[day, days.FIRST_OF_DAY] = node + 1
        else:
            memory.nodes[last - 1, nodes.NEXT] = node
        memory.days[day, days.LAST_OF_DAY] = node + 1


def plan_by_sm(memory: Memory, time: int, stage: int, node: int) -> None:
    """Schedule the next event of a node after those of `plan` for that time, ordered by SM; at most one per SM and
    cycle.
    """
    if _has_day(memory, time, heap.key_of(time, BY_SM | memory.nodes[node, nodes.SM]), stage, node):
        _insert(memory, time & (DAYS - 1), node, nodes.SM)


def plan_to_leave(memory: Memory, time: int, node: int) -> None:
    """With contention: a request leaves its first level at ``time``, less than DAYS cycles after CARRIED.  Requests of
    one time leave in the order of ORDER, and of the same ORDER in that of the calls.
    """
    memory.scalars[scalars.LEAVING] += 1
    _insert(memory, time & (DAYS - 1), node, nodes.ORDER)


def _insert(memory: Memory, day: int, node: int, column: Column[Nodes, int]) -> None:
    """Insert a node in the list of SMs of a day, in the order of a column."""
    own = memory.nodes[node, column]
    before, following = NONE, memory.days[day, days.FIRST_OF_SMS] - 1
    last = memory.days[day, days.LAST_OF_SMS] - 1
    if following != NONE and memory.nodes[last, column] <= own:
        before, following = last, NONE
    while following != NONE and memory.nodes[following, column] <= own:
        before, following = following, memory.nodes[following, nodes.NEXT]
    memory.nodes[node, nodes.NEXT] = following
    if following == NONE:
        memory.days[day, days.LAST_OF_SMS] = node + 1
    if before == NONE:
        memory.days[day, days.FIRST_OF_SMS] = node + 1
    else:
        memory.nodes[before, nodes.NEXT] = node


def send_to_leader(memory: Memory, time: int, node: int) -> None:
    """In a thread other than the leader: an event of a request that the leader schedules."""
    first = memory.scalars[scalars.OUTBOX]
    memory.outboxes[first, 0] += 1
    row = first + memory.outboxes[first, 0]
    memory.outboxes[row, 0], memory.outboxes[row, 1] = time, node


def empty_outboxes(memory: Memory) -> None:
    """Schedule what the SMs of other threads have sent.  Events of one time are ordered, so it does not matter when."""
    for member in range(1, memory.scalars[scalars.MEMBERS]):
        first = member * memory.scalars[scalars.OUTBOX_ROWS]
        for row in range(first + 1, first + 1 + memory.outboxes[first, 0]):
            prefetch(memory.nodes, memory.outboxes[row + AHEAD, 1] * nodes.COUNT)
            if memory.parameters[parameters.MODEL] == CACHED:
                plan_by_sm(memory, memory.outboxes[row, 0], nodes.ARRIVE, memory.outboxes[row, 1])
            else:
                plan_to_leave(memory, memory.outboxes[row, 0], memory.outboxes[row, 1])
        memory.outboxes[first, 0] = 0


def next_planned(memory: Memory) -> int:
    """The time of the first event; NEVER if there is none."""
    if memory.scalars[scalars.IN_DAYS] == 0:
        return _first_in_heap(memory)
    return min(_first_in_heap(memory), _first_day(memory))


def is_due(memory: Memory, time: int) -> bool:
    """Whether an event that the memory system has scheduled is at ``time``; none is earlier."""
    return memory.days[time & (DAYS - 1), days.FIRST_OF_DAY] != 0 or _first_in_heap(memory) <= time


def next_of_memory(memory: Memory) -> int:
    """The time of the first event that the memory system has scheduled; NEVER if there is none."""
    first = _first_in_heap(memory)
    if memory.scalars[scalars.IN_DAYS] == 0:
        return first
    time = memory.scalars[scalars.BEGIN]
    while time < first:
        day = time & (DAYS - 1)
        if memory.days[day, days.FIRST_OF_DAY] != 0:
            return time
        time += WEEK if day % WEEK == 0 and memory.weeks[day // WEEK] == 0 else 1
    return first


def next_leaving(memory: Memory) -> int:
    """With contention: when the first request leaves its first level; NEVER if none does."""
    if memory.scalars[scalars.LEAVING] == 0:
        return NEVER
    time = memory.scalars[scalars.CARRIED]
    while memory.days[time & (DAYS - 1), days.FIRST_OF_SMS] == 0:
        time += 1
    return time


def take_leaving(memory: Memory, time: int) -> int:
    """Remove and return the first request that leaves at ``time``; NONE if there is none."""
    day = time & (DAYS - 1)
    node = memory.days[day, days.FIRST_OF_SMS] - 1
    if node != NONE:
        memory.scalars[scalars.LEAVING] -= 1
        memory.days[day, days.FIRST_OF_SMS] = memory.nodes[node, nodes.NEXT] + 1
    return node


def first_of_day(memory: Memory, time: int) -> int:
    """The node of the first event in the day of ``time``, NONE if there is none."""
    day = time & (DAYS - 1)
    own = memory.days[day, days.FIRST_OF_DAY]
    return (own if own != 0 else memory.days[day, days.FIRST_OF_SMS]) - 1


def take(memory: Memory, time: int) -> int:
    """Remove and return the node of the first event, which is at ``time``."""
    return _take(memory, time, first_of_day(memory, time))


def take_of_memory(memory: Memory, time: int) -> int:
    """Remove and return the node of the first event that the memory system has scheduled, which is at ``time``."""
    return _take(memory, time, memory.days[time & (DAYS - 1), days.FIRST_OF_DAY] - 1)


def _take(memory: Memory, time: int, node: int) -> int:
    """`take`, where ``node`` is the first one of the day, NONE if there is none."""
    memory.scalars[scalars.BEGIN] = time
    day = time & (DAYS - 1)
    own = memory.days[day, days.FIRST_OF_DAY]
    if memory.scalars[scalars.EVENTS] != 0 and (node == NONE or memory.events[0, 0] < memory.nodes[node, nodes.KEY]):
        node = memory.events[0, 1]
        heap.pop(memory.events, 0, memory.scalars[scalars.EVENTS])
        memory.scalars[scalars.EVENTS] -= 1
    else:
        memory.scalars[scalars.IN_DAYS] -= 1
        memory.weeks[day // WEEK] -= 1
        if own == 0:
            memory.days[day, days.FIRST_OF_SMS] = memory.nodes[node, nodes.NEXT] + 1
        elif memory.days[day, days.LAST_OF_DAY] == own:
            memory.days[day, days.FIRST_OF_DAY] = 0
            memory.days[day, days.LAST_OF_DAY] = 0
        else:
            memory.days[day, days.FIRST_OF_DAY] = memory.nodes[node, nodes.NEXT] + 1
    memory.nodes[node, nodes.NEXT] = NONE
    return node


def _has_day(memory: Memory, time: int, key: int, stage: int, node: int) -> bool:
    """Whether an event belongs in a day; otherwise it is pushed to the heap."""
    memory.nodes[node, nodes.STAGE] = stage
    memory.nodes[node, nodes.KEY] = key
    if time - memory.scalars[scalars.BEGIN] >= DAYS:
        heap.push(memory.events, 0, memory.scalars[scalars.EVENTS], key, node)
        memory.scalars[scalars.EVENTS] += 1
        return False
    memory.scalars[scalars.IN_DAYS] += 1
    memory.weeks[(time & (DAYS - 1)) // WEEK] += 1
    return True


def _first_in_heap(memory: Memory) -> int:
    if memory.scalars[scalars.EVENTS] == 0:
        return NEVER
    return memory.events[0, 0] >> heap.ORDER_BITS


def _first_day(memory: Memory) -> int:
    """The first cycle with an event in its day; there must be one."""
    time = memory.scalars[scalars.BEGIN]
    while True:
        day = time & (DAYS - 1)
        if memory.days[day, days.FIRST_OF_DAY] != 0 or memory.days[day, days.FIRST_OF_SMS] != 0:
            return time
        time += WEEK if day % WEEK == 0 and memory.weeks[day // WEEK] == 0 else 1
