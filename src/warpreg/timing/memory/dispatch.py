"""The functions of docs/reference/timing.md for any model: which one is a number in the memory system."""

from __future__ import annotations

from warpreg.timing.memory import cached, contention, first_level, fixed, network
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import Memory


def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether memory takes a transaction of this SM now."""
    if memory.parameters[at.MODEL] == at.FIXED:
        return fixed.accepts(memory, sm, now)
    return first_level.accepts(memory, sm, now)


def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Take a transaction."""
    if memory.parameters[at.MODEL] == at.FIXED:
        fixed.send(memory, sm, kind, line, sectors, ticket, now)
    else:
        first_level.send(memory, sm, kind, line, sectors, ticket, now)


def advance(memory: Memory, now: int) -> None:
    """Do what is due."""
    if memory.parameters[at.MODEL] == at.CACHED:
        cached.advance(memory, now)
    elif memory.parameters[at.MODEL] == at.CONTENTION:
        contention.advance(memory, now)


def next_event(memory: Memory, now: int) -> int:
    """The earliest at which `advance` is due."""
    if memory.parameters[at.MODEL] == at.FIXED:
        return at.NEVER
    if memory.parameters[at.MODEL] == at.CACHED:
        return cached.next_event(memory, now)
    return network.next_event(memory, now)
