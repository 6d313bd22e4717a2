"""Operand path with banks and collectors: latches, collectors, bank arbitration."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import collectors, groups, machine, ops, schedulers, sms
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.rows import collector_at, group_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, NONE, GroupRow, OpRow, Pc, SchedulerRow, SmRow, UnitsRow
from warpreg.timing.sm.function_units import units_of
from warpreg.timing.sm.operand_collector import dispatch, earliest, enter, group_of, read_banks, wanted


@stands_for(ports.collect, when.BANKED)
def collect(c: Core, d: Any, sm: SmRow, now: int) -> int:
    written = c.table[sm, sms.WRITTEN_BANKS] if c.machine[machine.SINGLE_PORTED] != 0 else 0
    later = NEVER
    c.table[sm, sms.TRIED] = 0
    for step in range(c.machine[machine.STEPS]):
        if c.table[sm, sms.READY_COLLECTORS] & ~c.table[sm, sms.TRIED] != 0:
            later = min(later, dispatch(c, d, sm, now))
            c.table[sm, sms.TRIED] = c.table[sm, sms.READY_COLLECTORS]
        if c.table[sm, sms.REQUEST_BANKS] != 0:
            read_banks(c, d, sm, written, now, now + (step + 1) // c.machine[machine.STEPS])
        written = 0
        if c.table[sm, sms.GROUPS_LATCHED] != 0:
            enter(c, d, sm, now)
    return later


@stands_for(ports.is_collecting, when.BANKED)
def is_collecting(c: Core, sm: SmRow) -> bool:
    """Whether there are writes, reads, latched instructions with a free collector, or collectors that became ready
    after the last dispatch.
    """
    untried = c.table[sm, sms.READY_COLLECTORS] & ~c.table[sm, sms.TRIED]
    if c.table[sm, sms.WRITE_BANKS] | c.table[sm, sms.REQUEST_BANKS] | untried != 0:
        return True
    latched = c.table[sm, sms.GROUPS_LATCHED]
    while latched != 0:
        row = group_at(c, sm, lowest(latched))
        if c.rows[row, groups.FREE] & wanted(c, row) != 0:
            return True
        latched &= latched - 1
    return False


@stands_for(ports.may_refuse, when.BANKED)
def may_refuse(c: Core, sm: SmRow, row: SchedulerRow, now: int) -> int:
    return c.rows[row, schedulers.FULL]


@stands_for(ports.refuses, when.BANKED)
def refuses(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> bool:
    return c.rows[row, schedulers.FULL] & bit(pipe) != 0


@stands_for(ports.waits_for, when.BANKED)
def waits_for(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> UnitsRow:
    """The units of the oldest instruction in the collectors that the latch feeds, if all its operands are present."""
    oldest = earliest(c, sm, group_of(c, row, pipe))
    if oldest == NONE or c.table[sm, sms.READY_COLLECTORS] & bit(oldest) == 0:
        return NONE
    held = collector_at(c, sm, oldest)
    return c.rows[held, collectors.UNITS] if c.rows[held, collectors.READY_AT] <= now else NONE


@port("collectors of warps")
def fill_latch(c: Core, row: SchedulerRow, pipe: int, op: OpRow) -> None:
    """An instruction issues into the latch of its pipe."""
    c.rows[row, schedulers.FULL] |= bit(pipe)


@stands_for(ports.take, when.BANKED)
def take(c: Core, d: Any, sm: SmRow, row: SchedulerRow, pipe: int, pc: Pc, op: OpRow, now: int) -> None:
    """Place an instruction in the latch of its pipe, at the end of the list of its group."""
    group = group_of(c, row, pipe)
    fill_latch(c, row, pipe, op)
    c.rows[op, ops.UNITS] = units_of(c, row, pipe)
    c.rows[op, ops.NEXT] = NONE
    queue(c, sm, group, op)


@port("collectors of warps")
def queue(c: Core, sm: SmRow, group: GroupRow, op: OpRow) -> None:
    """Append an instruction to the list of its group."""
    if c.rows[group, groups.LATCHED] == NONE:
        c.rows[group, groups.LATCHED] = op
        c.table[sm, sms.GROUPS_LATCHED] |= c.rows[group, groups.OWN]
    else:
        c.rows[c.rows[group, groups.LATCHED_END], ops.NEXT] = op
    c.rows[group, groups.LATCHED_END] = op
