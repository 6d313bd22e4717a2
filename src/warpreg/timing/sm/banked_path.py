"""The operand path of banks and collectors: latches, collectors, arbitration of the banks."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core.bitset import bit
from warpreg.timing.core.columns import Core
from warpreg.timing.core.rows import collector_at, group_at
from warpreg.timing.sm.function_units import units_of
from warpreg.timing.sm.operand_collector import dispatch, earliest, enter, group_of, read_banks


def collect(c: Core, d: Any, sm: int, now: int) -> int:
    written = c.table[sm, at.WRITTEN_BANKS] if c.machine[at.SINGLE_PORTED] != 0 else 0
    later = at.NEVER
    c.table[sm, at.TRIED] = 0
    for step in range(c.machine[at.STEPS]):
        if c.table[sm, at.READY_COLLECTORS] & ~c.table[sm, at.TRIED] != 0:
            later = min(later, dispatch(c, d, sm, now))
            c.table[sm, at.TRIED] = c.table[sm, at.READY_COLLECTORS]
        if c.table[sm, at.REQUEST_BANKS] != 0:
            read_banks(c, sm, written, now, now + (step + 1) // c.machine[at.STEPS])
        written = 0
        if c.table[sm, at.GROUPS_LATCHED] != 0:
            enter(c, d, sm, now)
    return later


def is_collecting(c: Core, sm: int) -> bool:
    """Writes, reads, latched instructions with a collector free, collectors that became ready after the last
    dispatch.
    """
    if c.table[sm, at.WRITE_BANKS] != 0 or c.table[sm, at.REQUEST_BANKS] != 0:
        return True
    if c.table[sm, at.READY_COLLECTORS] & ~c.table[sm, at.TRIED] != 0:
        return True
    latched = c.table[sm, at.GROUPS_LATCHED]
    for group in range(c.machine[at.GROUPS]):
        if latched >> group & 1 and c.rows[group_at(c, sm, group), at.FREE_COLLECTORS] != 0:
            return True
    return False


def may_refuse(c: Core, row: int) -> int:
    return c.rows[row, at.FULL]


def refuses(c: Core, sm: int, row: int, pipe: int, now: int) -> bool:
    return c.rows[row, at.FULL] & bit(pipe) != 0


def waits_for(c: Core, sm: int, row: int, pipe: int, now: int) -> int:
    """The units of the oldest instruction in the collectors that the latch feeds, if it has all its operands."""
    oldest = earliest(c, sm, group_of(c, row, pipe))
    if oldest == at.NONE or c.table[sm, at.READY_COLLECTORS] & bit(oldest) == 0:
        return at.NONE
    place = collector_at(c, sm, oldest)
    return c.rows[place, at.FOR_UNITS] if c.rows[place, at.READY_AT] <= now else at.NONE


def take(c: Core, d: Any, sm: int, row: int, pipe: int, pc: int, op: int, now: int) -> None:
    """Into the latch of its pipe, behind what waits for the same collectors."""
    group = group_of(c, row, pipe)
    c.rows[row, at.FULL] |= bit(pipe)
    c.rows[op, at.OP_UNITS] = units_of(c, row, pipe)
    c.rows[op, at.OP_NEXT] = at.NONE
    if c.rows[group, at.LATCHED] == at.NONE:
        c.rows[group, at.LATCHED] = op
        c.table[sm, at.GROUPS_LATCHED] |= c.rows[group, at.OWN_GROUP]
    else:
        c.rows[c.rows[group, at.LATCHED_END], at.OP_NEXT] = op
    c.rows[group, at.LATCHED_END] = op
