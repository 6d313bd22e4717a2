"""Answers on their way to an SM, in order of arrival; each is processed when its SM is stepped in that cycle."""

from __future__ import annotations

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import first_level
from warpreg.timing.memory.heap import next_return as next_in_heap
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import nodes, parameters, sms


def next_answer(memory: Memory, sm: int) -> int:
    """When the first answer arrives, NEVER if there is none."""
    node = memory.sms[sm, sms.FIRST_ANSWER]
    return NEVER if node == NONE else memory.nodes[node, nodes.FREE_FROM]


def next_answer_of_all(memory: Memory) -> int:
    """When the first answer arrives at any SM, NEVER if there is none."""
    soonest = NEVER
    for sm in range(memory.parameters[parameters.SMS]):
        soonest = min(soonest, next_answer(memory, sm))
    return soonest


@stands_for(ports.next_return, when.CACHED)
def next_return(memory: Memory, sm: int) -> int:
    """The earliest cycle in which a ticket may return to this SM."""
    return min(next_in_heap(memory, sm), next_answer(memory, sm))


@stands_for(ports.settle, when.CACHED)
def settle(memory: Memory, sm: int, now: int) -> None:
    """Process the answers that have reached an SM by ``now``."""
    while next_answer(memory, sm) <= now:
        node = memory.sms[sm, sms.FIRST_ANSWER]
        following = memory.nodes[node, nodes.NEXT]
        memory.sms[sm, sms.FIRST_ANSWER] = following
        first_level.deliver(memory, node, now)
        if following != NONE:
            first_level.expect_answer(memory, following)
    first_level.unblock(memory, sm, now)


@stands_for(ports.awaited, when.CACHES)
def awaited(memory: Memory, sm: int) -> int:
    """A ticket that returns soon, or NONE."""
    node = memory.sms[sm, sms.FIRST_ANSWER]
    return NONE if node == NONE else memory.nodes[node, nodes.TICKET]
