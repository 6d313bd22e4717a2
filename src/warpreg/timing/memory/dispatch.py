"""The memory interface of docs/reference/timing.md for any model; a parameter of the memory system selects it."""

from __future__ import annotations

from warpreg.timing.core.typed import NEVER
from warpreg.timing.memory import cached, contention, first_level, fixed
from warpreg.timing.memory.layout import CACHED, CONTENTION, FIXED, Memory
from warpreg.timing.memory.memory_columns import parameters


def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether memory accepts a transaction of this SM now."""
    if memory.parameters[parameters.MODEL] == FIXED:
        return fixed.accepts(memory, sm, now)
    return first_level.accepts(memory, sm, now)


def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Send a transaction."""
    if memory.parameters[parameters.MODEL] == FIXED:
        fixed.send(memory, sm, kind, line, sectors, ticket, now)
    else:
        first_level.send(memory, sm, kind, line, sectors, ticket, now)


def advance(memory: Memory, now: int) -> None:
    """Process due events."""
    p = memory.parameters
    if p[parameters.MODEL] == CACHED:
        cached.advance(memory, now)
    elif p[parameters.MODEL] == CONTENTION:
        contention.advance(memory, now)


def next_event(memory: Memory, now: int) -> int:
    """The earliest cycle in which `advance` is due."""
    p = memory.parameters
    if p[parameters.MODEL] == FIXED:
        return NEVER
    if p[parameters.MODEL] == CACHED:
        return cached.next_event(memory, now)
    return contention.next_event(memory, now)
