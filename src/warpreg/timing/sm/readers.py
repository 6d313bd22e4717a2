"""Scoreboard of sources: an instruction waits for earlier ones in queues that still read what it writes.

Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025), section 7.5, where a
second scoreboard counts readers.  For code without control codes, with a read window.
"""

from __future__ import annotations

from warpreg.gpu import pipes
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import code, groups, machine, ops, schedulers, warps
from warpreg.timing.core.inflight import mark
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, Pc, WarpRow


@stands_for(ports.queued, when.TRACKS_SOURCES)
def queued(c: Core, warp: WarpRow, pc: Pc) -> None:
    """An instruction enters the queue of its pipe."""
    words = c.machine[machine.WORDS]
    for word in range(words):
        c.rows[warp, warps.BUSY + warps.READING_SET * words + word] |= c.code[pc, code.NEED + word]


@stands_for(ports.sources_read, when.TRACKS_SOURCES)
def sources_read(c: Core, op: OpRow) -> None:
    """An instruction has left its queue: what is still to be read is what the others of its warp read."""
    if c.code[c.rows[op, ops.PC], code.LEAD] == 0:
        return
    warp = c.rows[op, ops.WARP]
    words = c.machine[machine.WORDS]
    for word in range(words):
        c.rows[warp, warps.BUSY + warps.READING_SET * words + word] = 0
    for pipe in range(len(pipes.PIPES)):
        group = c.rows[c.rows[warp, warps.TURN_ROW], schedulers.GROUP_FOR + pipe]
        if pipe != pipes.CTRL and c.rows[group, groups.IN_PORTS] != 0:
            other = c.rows[group, groups.LATCHED]
            while other != NONE:
                if c.rows[other, ops.WARP] == warp:
                    queued(c, warp, c.rows[other, ops.PC])
                other = c.rows[other, ops.NEXT]
    mark(c, warp)


@stands_for(ports.waits_for_readers, when.TRACKS_SOURCES)
def waits_for_readers(c: Core, warp: WarpRow) -> bool:
    """Whether the head of a warp writes what an instruction in a queue still reads."""
    head = c.rows[warp, warps.HEAD]
    words = c.machine[machine.WORDS]
    found = 0
    for word in range(words):
        written = c.code[head, code.NEED + words + word]
        found |= written & c.rows[warp, warps.BUSY + warps.READING_SET * words + word]
    return found != 0
