"""How far transactions went: which level of memory answered them, for runs that ask.

The level is kept in requests, and with the tickets that return.
"""

from __future__ import annotations

from collections.abc import Mapping

from piecewise_numba.natives import Function
from warpreg.timing.core import ports
from warpreg.timing.core.columns.typed import NONE
from warpreg.timing.memory import heap
from warpreg.timing.memory.columns import nodes, sms
from warpreg.timing.memory.layout import Memory

LEVEL_BITS = 2


def give_back_from(memory: Memory, sm: int, time: int, ticket: int, level: int) -> None:
    heap.give_back(memory, sm, time, ticket << LEVEL_BITS | level)


def note_level(memory: Memory, node: int, level: int) -> None:
    memory.nodes[node, nodes.LEVEL] = level


def level_of(memory: Memory, node: int) -> int:
    return memory.nodes[node, nodes.LEVEL]


def returned(memory: Memory, sm: int, now: int) -> int:
    """`heap.returned`; the level of its ticket is known until the next one returns."""
    found = heap.returned(memory, sm, now)
    if found == NONE:
        return found
    memory.sms[sm, sms.LEVEL] = found & (1 << LEVEL_BITS) - 1
    return found >> LEVEL_BITS


def reach(memory: Memory, sm: int) -> int:
    return memory.sms[sm, sms.LEVEL]


KEPT: Mapping[Function, Function] = {
    heap.give_back_from: give_back_from,
    heap.note_level: note_level,
    heap.level_of: level_of,
    ports.returned: returned,
    ports.reach: reach,
}
"""What takes the place of what in a run that asks."""
