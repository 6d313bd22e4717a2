"""Cycles in which warps waited for memory, by the level of memory that ended the wait, for runs that ask.

An access has the highest level that answered one of its transactions.  A wait of a warp, from the first cycle of cause
``memory`` to the last, belongs to the result for memory that it got last.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import Cause, causes, clock, code, ops, warps
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import OpRow, SmRow, WarpRow

MEMORY_CLASS = causes.WAITS.index(causes.MEMORY)


@stands_for(ports.begin_access, when.REACH)
def begin_access(c: Core, op: OpRow) -> None:
    c.rows[op, ops.REACHED] = 0


@stands_for(ports.ticket_is_back, when.REACH)
def ticket_is_back(c: Core, memory: Any, sm: SmRow, op: OpRow) -> None:
    c.rows[op, ops.REACHED] = max(c.rows[op, ops.REACHED], ports.reach(memory, sm))


@stands_for(ports.result_is_there, when.REACH)
def result_is_there(c: Core, op: OpRow) -> None:
    if c.code[c.rows[op, ops.PC], code.WAIT_CLASS] & code.CLASS_BITS == MEMORY_CLASS:
        warp = c.rows[op, ops.WARP]
        flags = c.rows[warp, warps.PRESENT] & (1 << warps.REACH_SHIFT) - 1
        c.rows[warp, warps.PRESENT] = flags | c.rows[op, ops.REACHED] << warps.REACH_SHIFT


@stands_for(ports.still_waits, when.REACH)
def still_waits(before: Cause, cause: Cause) -> bool:
    return before == causes.MEMORY and cause == causes.MEMORY


@stands_for(ports.waited, when.REACH)
def waited(c: Core, warp: WarpRow, cycles: int) -> None:
    c.clock[clock.WAITED + (c.rows[warp, warps.PRESENT] >> warps.REACH_SHIFT)] += cycles
