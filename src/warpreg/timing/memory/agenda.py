"""What the memory system will do when: nodes by the cycle of their next event.

The next cycles have a *day* each, with a list of nodes; what is further ahead waits in a heap.  In one cycle, events
that the memory system plans itself come first, in the order in which they were planned; then those of SMs, by SM,
whichever was stepped first.
"""

from __future__ import annotations

from warpreg.timing.memory import heap
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import DAYS, WEEK, Memory

BY_SM = 1 << (heap.ORDER_BITS - 1)


def plan(memory: Memory, time: int, stage: int, node: int) -> None:
    """Let a node's next event happen at ``time``, after those planned before for that time."""
    memory.scalars[at.SEQUENCE] += 1
    key = heap.key_of(time, memory.scalars[at.SEQUENCE] & (BY_SM - 1))
    if _has_day(memory, time, key, stage, node):
        day = time & (DAYS - 1)
        last = memory.days[day, at.LAST_OF_DAY]
        if last == 0:
            memory.days[day, at.FIRST_OF_DAY] = node + 1
        else:
            memory.nodes[last - 1, at.NEXT] = node
        memory.days[day, at.LAST_OF_DAY] = node + 1


def plan_by_sm(memory: Memory, time: int, stage: int, node: int) -> None:
    """The same, but after what `plan` plans for that time, and by SM; an SM plans one event for a cycle at most."""
    nodes, days = memory.nodes, memory.days
    if _has_day(memory, time, heap.key_of(time, BY_SM | nodes[node, at.SM]), stage, node):
        day = time & (DAYS - 1)
        before, following = at.NONE, days[day, at.FIRST_OF_SMS] - 1
        last = days[day, at.LAST_OF_SMS] - 1
        if following != at.NONE and nodes[last, at.SM] < nodes[node, at.SM]:
            before, following = last, at.NONE
        while following != at.NONE and nodes[following, at.SM] < nodes[node, at.SM]:
            before, following = following, nodes[following, at.NEXT]
        nodes[node, at.NEXT] = following
        if following == at.NONE:
            days[day, at.LAST_OF_SMS] = node + 1
        if before == at.NONE:
            days[day, at.FIRST_OF_SMS] = node + 1
        else:
            nodes[before, at.NEXT] = node


def next_planned(memory: Memory) -> int:
    """The time of the first event; NEVER without."""
    if memory.scalars[at.IN_DAYS] == 0:
        return _first_in_heap(memory)
    return min(_first_in_heap(memory), _first_day(memory))


def first_of_day(memory: Memory, time: int) -> int:
    """The node of the first event that stands in the day of ``time``, NONE without."""
    day = time & (DAYS - 1)
    own = memory.days[day, at.FIRST_OF_DAY]
    return (own if own != 0 else memory.days[day, at.FIRST_OF_SMS]) - 1


def take(memory: Memory, time: int) -> int:
    """Takes out the node of the first event, which is at ``time``."""
    scalars, days, nodes = memory.scalars, memory.days, memory.nodes
    scalars[at.BEGIN] = time
    day = time & (DAYS - 1)
    own = days[day, at.FIRST_OF_DAY]
    node = first_of_day(memory, time)
    if scalars[at.EVENTS] != 0 and (node == at.NONE or memory.events[0, 0] < nodes[node, at.KEY]):
        node = memory.events[0, 1]
        heap.pop(memory.events, 0, scalars[at.EVENTS])
        scalars[at.EVENTS] -= 1
    else:
        scalars[at.IN_DAYS] -= 1
        memory.weeks[day // WEEK] -= 1
        if own == 0:
            days[day, at.FIRST_OF_SMS] = nodes[node, at.NEXT] + 1
        elif days[day, at.LAST_OF_DAY] == own:
            days[day, at.FIRST_OF_DAY] = 0
            days[day, at.LAST_OF_DAY] = 0
        else:
            days[day, at.FIRST_OF_DAY] = nodes[node, at.NEXT] + 1
    nodes[node, at.NEXT] = at.NONE
    return node


def _has_day(memory: Memory, time: int, key: int, stage: int, node: int) -> bool:
    """Whether an event goes to its day; if not, it has been put into the heap."""
    scalars = memory.scalars
    memory.nodes[node, at.STAGE] = stage
    memory.nodes[node, at.KEY] = key
    if time - scalars[at.BEGIN] >= DAYS:
        heap.push(memory.events, 0, scalars[at.EVENTS], key, node)
        scalars[at.EVENTS] += 1
        return False
    scalars[at.IN_DAYS] += 1
    memory.weeks[(time & (DAYS - 1)) // WEEK] += 1
    return True


def _first_in_heap(memory: Memory) -> int:
    if memory.scalars[at.EVENTS] == 0:
        return at.NEVER
    return memory.events[0, 0] >> heap.ORDER_BITS


def _first_day(memory: Memory) -> int:
    """The first cycle with an event in its day; there is one."""
    time = memory.scalars[at.BEGIN]
    while True:
        day = time & (DAYS - 1)
        if memory.days[day, at.FIRST_OF_DAY] != 0 or memory.days[day, at.FIRST_OF_SMS] != 0:
            return time
        time += WEEK if day % WEEK == 0 and memory.weeks[day // WEEK] == 0 else 1
