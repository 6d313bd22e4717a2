"""How far transactions went: which level of memory answered them, for runs that ask.

The level is kept in requests, and with the tickets that return.
"""

from __future__ import annotations

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.typed import NONE
from warpreg.timing.memory import heap
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import nodes, sms

LEVEL_BITS = 2


@stands_for(heap.give_back_from, when.ANSWERING_LEVELS)
def give_back_from(memory: Memory, sm: int, time: int, ticket: int, level: int) -> None:
    heap.give_back(memory, sm, time, ticket << LEVEL_BITS | level)


@stands_for(heap.note_level, when.ANSWERING_LEVELS)
def note_level(memory: Memory, node: int, level: int) -> None:
    memory.nodes[node, nodes.LEVEL] = level


@stands_for(heap.level_of, when.ANSWERING_LEVELS)
def level_of(memory: Memory, node: int) -> int:
    return memory.nodes[node, nodes.LEVEL]


@stands_for(ports.returned, when.ANSWERING_LEVELS)
def returned(memory: Memory, sm: int, now: int) -> int:
    """`heap.returned`; the level of its ticket is known until the next one returns."""
    found = heap.returned(memory, sm, now)
    if found == NONE:
        return found
    memory.sms[sm, sms.LEVEL] = found & (1 << LEVEL_BITS) - 1
    return found >> LEVEL_BITS


@stands_for(ports.reach, when.ANSWERING_LEVELS)
def reach(memory: Memory, sm: int) -> int:
    return memory.sms[sm, sms.LEVEL]
