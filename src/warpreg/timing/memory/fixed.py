"""The fixed model: a latency, and per SM a port with a bandwidth in bytes per cycle (Gebhart et al., ISCA 2011)."""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory.heap import OFF_CHIP, besides, give_back_from, next_return, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory
from warpreg.timing.memory.memory_columns import counts, parameters, sms

AHEAD = 4096
"""Cycles between events, at most, so that a run without progress is detected."""


@stands_for(ports.accepts, when.FIXED)
def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether the port is free in this cycle and one more transaction may be in flight."""
    free = memory.sms[sm, sms.FREE_AT] < (now + 1) * TICKS
    return free and memory.sms[sm, sms.UNDER_WAY] < memory.parameters[parameters.OUTSTANDING]


@stands_for(ports.retry, when.FIXED)
def retry(memory: Memory, sm: int, now: int) -> int:
    """The cycle in which `accepts` may hold after a refusal."""
    if memory.sms[sm, sms.UNDER_WAY] >= memory.parameters[parameters.OUTSTANDING]:
        return max(now + 1, next_return(memory, sm))
    return max(now + 1, memory.sms[sm, sms.FREE_AT] // TICKS)


@stands_for(ports.joins, when.FIXED)
def joins(memory: Memory, sm: int, sectors: int, now: int) -> bool:
    """The port takes one transaction after another."""
    return False


@stands_for(ports.expect, when.FIXED)
def expect(memory: Memory, sm: int, line: int) -> None:
    """No effect: nothing is looked up."""


@stands_for(ports.send, when.FIXED)
def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Occupy the port for at least one cycle; the ticket is back ``latency`` cycles after that begins."""
    p = memory.parameters
    start = max(now * TICKS, memory.sms[sm, sms.FREE_AT])
    moved = sectors | besides(memory, line) if record.is_load(kind) and kind != record.TEXTURE_LOAD else sectors
    busy = max(TICKS, sectors_in(moved) * p[parameters.SECTOR_TICKS])
    memory.sms[sm, sms.FREE_AT] = start + busy
    memory.sms[sm, sms.UNDER_WAY] += 1
    memory.counts[sm, counts.PORT_TICKS] += busy
    memory.counts[sm, counts.SENT] += 1
    latency = p[parameters.TEXTURE_LATENCY] if kind == record.TEXTURE_LOAD else p[parameters.LATENCY]
    give_back_from(memory, sm, start // TICKS + latency, ticket, OFF_CHIP)


def advance(memory: Memory, now: int) -> None:
    """No effect: there are no events."""


@stands_for(ports.look_ahead, when.FIXED)
def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """SMs do not interact, so each may be stepped without limit."""
    return soonest + AHEAD


@stands_for(ports.settle, when.FIXED)
def settle(memory: Memory, sm: int, now: int) -> None:
    """No effect: nothing is in flight."""


def next_event(memory: Memory, now: int) -> int:
    """NEVER: there are no events."""
    return NEVER


@stands_for(ports.awaited, when.FIXED)
def awaited(memory: Memory, sm: int) -> int:
    """Unknown."""
    return NONE


@stands_for(ports.room_for_sms, when.FIXED)
def room_for_sms(memory: Memory) -> int:
    """All: each SM has rows of its own."""
    return memory.parameters[parameters.SMS]
