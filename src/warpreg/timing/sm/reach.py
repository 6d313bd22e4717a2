"""Cycles in which warps waited for memory, by the level of memory that ended the wait, for runs that ask.

An access has the highest level that answered one of its transactions.  A wait of a warp, from the first cycle of cause
``memory`` to the last, belongs to the result for memory that it got last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piecewise_numba.natives import Function
from warpreg.timing.core import ports
from warpreg.timing.core.columns import causes, clock, code, ops, warps
from warpreg.timing.core.columns.causes import Cause
from warpreg.timing.core.columns.typed import OpRow, SmRow, WarpRow
from warpreg.timing.core.state import Core

MEMORY_CLASS = causes.WAITS.index(causes.MEMORY)


def begin_access(c: Core, op: OpRow) -> None:
    c.rows[op, ops.REACHED] = 0


def ticket_is_back(c: Core, memory: Any, sm: SmRow, op: OpRow) -> None:
    c.rows[op, ops.REACHED] = max(c.rows[op, ops.REACHED], ports.reach(memory, sm))


def result_is_there(c: Core, op: OpRow) -> None:
    if c.code[c.rows[op, ops.PC], code.WAIT_CLASS] & code.CLASS_BITS == MEMORY_CLASS:
        warp = c.rows[op, ops.WARP]
        flags = c.rows[warp, warps.PRESENT] & (1 << warps.REACH_SHIFT) - 1
        c.rows[warp, warps.PRESENT] = flags | c.rows[op, ops.REACHED] << warps.REACH_SHIFT


def still_waits(before: Cause, cause: Cause) -> bool:
    return before == causes.MEMORY and cause == causes.MEMORY


def waited(c: Core, warp: WarpRow, cycles: int) -> None:
    c.clock[clock.WAITED + (c.rows[warp, warps.PRESENT] >> warps.REACH_SHIFT)] += cycles


KEPT: Mapping[Function, Function] = {
    ports.begin_access: begin_access,
    ports.ticket_is_back: ticket_is_back,
    ports.result_is_there: result_is_there,
    ports.still_waits: still_waits,
    ports.waited: waited,
}
"""What takes the place of what in a run that asks."""
