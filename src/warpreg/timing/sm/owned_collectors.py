"""Collectors that belong to warp slots: what takes the place of the machine's sets of collectors and of their latches.

An SM has one group with ``reading`` collectors for each slot, by slot.  An instruction waits in the list of its warp
until one of them is free; a warp may issue while fewer than ``instructions`` of its instructions wait or are in a
collector.
"""

from __future__ import annotations

from typing import Any

from warpreg.gpu import pipes
from warpreg.timing.core.bitset import bit, lowest, round_after
from warpreg.timing.core.columns import causes, collectors, function_units, groups, machine, ops, schedulers, sms, warps
from warpreg.timing.core.columns.causes import Cause
from warpreg.timing.core.columns.typed import NONE, CollectorRow, GroupRow, OpRow, SchedulerRow, SmRow, WarpRow
from warpreg.timing.core.rows import account_of, collector_at, group_at, scheduler_at, slot_of, warp_at, warp_of
from warpreg.timing.core.state import Core
from warpreg.timing.sm.entry import is_ready
from warpreg.timing.sm.load_store_unit import has_room
from warpreg.timing.sm.operand_collector import oldest, take_collector


def reading() -> int:
    """Instructions of a warp that request operands at a time; a constant of the compiled core, as the next one."""
    return 1


def instructions() -> int:
    """Instructions of a warp that have issued and are not dispatched, at most."""
    return 1


def is_full(c: Core, warp: WarpRow) -> bool:
    return c.rows[warp, warps.COLLECTING] >= instructions()


def fill_latch(c: Core, row: SchedulerRow, pipe: int, op: OpRow) -> None:
    """An instruction issues: its warp has one more to dispatch."""
    warp = c.rows[op, ops.WARP]
    c.rows[warp, warps.COLLECTING] += 1
    if is_full(c, warp):
        c.rows[row, schedulers.COLLECTOR_FULL] |= c.rows[warp, warps.OWN]


def queue(c: Core, sm: SmRow, group: GroupRow, op: OpRow) -> None:
    """Append an instruction to the list of its warp."""
    warp = c.rows[op, ops.WARP]
    own = _of_slot(slot_of(c, sm, warp))
    if c.rows[group, groups.WAITING] & own == 0:
        c.rows[warp, warps.LATCHED] = op
        c.rows[group, groups.WAITING] |= own
        c.table[sm, sms.GROUPS_LATCHED] |= c.rows[group, groups.OWN]
    else:
        c.rows[c.rows[warp, warps.LATCHED_END], ops.NEXT] = op
    c.rows[warp, warps.LATCHED_END] = op


def enter(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """The first latched instruction of each warp takes a free collector of its slot, the oldest first."""
    group = group_at(c, sm, 0)
    able = c.rows[group, groups.FREE] & c.rows[group, groups.WAITING]
    while able != 0:
        slot = _first_to_enter(c, sm, able)
        op = c.rows[warp_at(c, sm, slot), warps.LATCHED]
        if is_ready(c, op, now):
            collector = lowest(able & _of_slot(slot))
            able ^= bit(collector)
            c.rows[group, groups.FREE] ^= bit(collector)
            c.rows[group, groups.EARLIEST] = NONE
            c.rows[warp_at(c, sm, slot), warps.LATCHED] = c.rows[op, ops.NEXT]
            if c.rows[op, ops.NEXT] == NONE:
                c.rows[group, groups.WAITING] &= ~_of_slot(slot)
                able &= ~_of_slot(slot)
            take_collector(c, d, sm, collector, op, now)
        else:
            able &= ~_of_slot(slot)
    if c.rows[group, groups.WAITING] == 0:
        c.table[sm, sms.GROUPS_LATCHED] = 0


def _first_to_enter(c: Core, sm: SmRow, able: int) -> int:
    """The slot whose first latched instruction issued first."""
    found = lowest(able) // reading()
    rest = able & ~_of_slot(found)
    while rest != 0:
        slot = lowest(rest) // reading()
        rest &= ~_of_slot(slot)
        if _sequence(c, sm, slot) < _sequence(c, sm, found):
            found = slot
    return found


def _sequence(c: Core, sm: SmRow, slot: int) -> int:
    return c.rows[c.rows[warp_at(c, sm, slot), warps.LATCHED], ops.SEQUENCE]


def wanted(c: Core, group: GroupRow) -> int:
    """Those of slots with a latched instruction."""
    return c.rows[group, groups.WAITING]


def left(c: Core, sm: SmRow, collector: int, op: OpRow) -> None:
    """An instruction is dispatched."""
    warp = c.rows[op, ops.WARP]
    if is_full(c, warp):
        c.rows[c.rows[warp, warps.TURN_ROW], schedulers.COLLECTOR_FULL] ^= c.rows[warp, warps.OWN]
    c.rows[warp, warps.COLLECTING] -= 1
    c.table[sm, sms.LAST_DISPATCH] = collector // reading()


def _of_slot(slot: int) -> int:
    found = 0
    for one in range(reading()):
        found |= bit(slot * reading() + one)
    return found


def port_of(c: Core, row: CollectorRow) -> CollectorRow:
    """The first collector of the same slot: all of them share its ports."""
    beyond: Any = (row // c.machine[machine.ROW] - c.machine[machine.FIRST_COLLECTOR]) % reading()
    first: Any = row - beyond * c.machine[machine.ROW]
    return first


def next_in_turn(c: Core, sm: SmRow, among: int) -> int:
    """Of the first slot after the one that dispatched last, the oldest instruction."""
    last = c.table[sm, sms.LAST_DISPATCH] * reading() + reading() - 1
    return oldest(c, sm, among & _of_slot(round_after(among, last) // reading()))


def blocked_warps(c: Core, sm: SmRow, scheduler: int, cycles: int, now: int) -> int:
    """Ready warps whose collector has no room; attribute ``cycles`` of each in the stall account."""
    row = scheduler_at(c, sm, scheduler)
    ready = c.rows[row, schedulers.READY] & ~c.rows[row, schedulers.WANTS + pipes.CTRL]
    blocked = left = ready & c.rows[row, schedulers.COLLECTOR_FULL]
    while left != 0:
        position = lowest(left)
        left ^= bit(position)
        c.rows[account_of(c, row), _cause(c, sm, warp_of(c, sm, scheduler, position), now)] += cycles
    return blocked


def _cause(c: Core, sm: SmRow, warp: WarpRow, now: int) -> Cause:
    """What the oldest instruction in the warp's collectors waits for."""
    inside = _of_slot(slot_of(c, sm, warp)) & ~c.rows[group_at(c, sm, 0), groups.FREE]
    if inside == 0:
        return causes.OPERANDS
    collector = oldest(c, sm, inside)
    row = collector_at(c, sm, collector)
    is_ready = c.table[sm, sms.READY_COLLECTORS] & bit(collector) != 0
    if not is_ready or c.rows[row, collectors.READY_AT] > now:
        return causes.OPERANDS
    if c.rows[c.rows[row, collectors.UNITS], function_units.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return causes.MEMORY_QUEUE
    return causes.UNIT
