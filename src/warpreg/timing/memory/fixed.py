"""The fixed model: a latency, and for each SM a port that moves so many bytes in a cycle (Gebhart, ISCA 2011)."""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory.heap import give_back, next_return, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory

AHEAD = 4096
"""Cycles; so that a run that does not get on is noticed."""


def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether the port is free in this cycle and the ticket has room."""
    free = memory.sms[sm, at.FREE_AT] < (now + 1) * TICKS
    return free and memory.sms[sm, at.UNDER_WAY] < memory.parameters[at.OUTSTANDING]


def retry(memory: Memory, sm: int, now: int) -> int:
    """When `accepts` may hold after a refusal."""
    if memory.sms[sm, at.UNDER_WAY] >= memory.parameters[at.OUTSTANDING]:
        return max(now + 1, next_return(memory, sm))
    return max(now + 1, memory.sms[sm, at.FREE_AT] // TICKS)


def expect(memory: Memory, sm: int, line: int) -> None:
    """A transaction for this line is sent soon: nothing to look up."""


def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Occupy the port, one cycle at least; the ticket is back after the latency, which counts from the port's start."""
    parameters = memory.parameters
    start = max(now * TICKS, memory.sms[sm, at.FREE_AT])
    moved = sectors | parameters[at.SEGMENT] if kind == at.LOAD else sectors
    busy = max(TICKS, sectors_in(moved) * parameters[at.SECTOR_TICKS])
    memory.sms[sm, at.FREE_AT] = start + busy
    memory.sms[sm, at.UNDER_WAY] += 1
    memory.counts[sm, at.PORT_TICKS] += busy
    memory.counts[sm, at.SENT] += 1
    latency = parameters[at.TEXTURE_LATENCY] if kind == at.TEXTURE else parameters[at.LATENCY]
    give_back(memory, sm, start // TICKS + latency, ticket)


def advance(memory: Memory, now: int) -> None:
    """Nothing happens by itself."""


def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """SMs do not meet: whatever ``until``, each may be stepped for as long as one likes."""
    return soonest + AHEAD


def settle(memory: Memory, sm: int, now: int) -> None:
    """Nothing is on its way."""


def next_event(memory: Memory, now: int) -> int:
    """Nothing happens by itself."""
    return at.NEVER


def awaited(memory: Memory, sm: int) -> int:
    """Not known."""
    return at.NONE
