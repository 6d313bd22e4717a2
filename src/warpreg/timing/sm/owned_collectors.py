"""Collectors that belong to warp slots: what takes the place of the machine's sets of collectors and of their latches.

An SM has one group of them, with ``reading`` collectors for each slot, by slot; sets are of slots.  The first collector
of a slot keeps what all of them share: the ports, and which of them are in use or ready.  An instruction waits in the
list of its warp until one of them is free; a warp may issue while fewer than ``instructions`` of its instructions wait
or are in a collector.  Banks keep queues of requests (`warpreg.timing.sm.bank_queues`).
"""

from __future__ import annotations

from typing import Any

from warpreg.gpu import pipes
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, lowest, round_after
from warpreg.timing.core.columns import (
    Cause,
    causes,
    code,
    collectors,
    function_units,
    groups,
    machine,
    ops,
    schedulers,
    sms,
    warps,
)
from warpreg.timing.core.port import constant, port, stands_for
from warpreg.timing.core.rows import (
    account_of,
    collector_at,
    group_at,
    scheduler_at,
    slot_of,
    units_at,
    warp_at,
    warp_of,
)
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    NEVER,
    NONE,
    CollectorRow,
    GroupRow,
    OpRow,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)
from warpreg.timing.sm import banked_path, operand_collector, stall_account
from warpreg.timing.sm.entry import is_ready
from warpreg.timing.sm.function_units import free_at, take_unit
from warpreg.timing.sm.load_store_unit import begin, has_room
from warpreg.timing.sm.operand_collector import count_cycles, take_collector


@constant(when.OWNED, lambda given: given.slot_collectors.reading)
def reading() -> int:
    """Instructions of a warp that request operands at a time; a constant of the compiled core, as the next one."""
    return 1


@constant(when.OWNED, lambda given: given.slot_collectors.instructions)
def instructions() -> int:
    """Instructions of a warp that have issued and are not dispatched, at most."""
    return 1


@stands_for(ports.is_full, when.OWNED)
def is_full(c: Core, warp: WarpRow) -> bool:
    return c.rows[warp, warps.COLLECTING] >= instructions()


# Issue.


@stands_for(banked_path.fill_latch, when.OWNED)
def fill_latch(c: Core, row: SchedulerRow, pipe: int, op: OpRow) -> None:
    """An instruction issues: its warp has one more to dispatch."""
    warp = c.rows[op, ops.WARP]
    c.rows[warp, warps.COLLECTING] += 1
    if is_full(c, warp):
        c.rows[row, schedulers.COLLECTOR_FULL] |= c.rows[warp, warps.OWN]


@stands_for(banked_path.queue, when.OWNED)
def queue(c: Core, sm: SmRow, group: GroupRow, op: OpRow) -> None:
    """Append an instruction to the list of its warp."""
    warp = c.rows[op, ops.WARP]
    own = bit(slot_of(c, sm, warp))
    if c.rows[group, groups.WAITING] & own == 0:
        c.rows[warp, warps.LATCHED] = op
        c.rows[group, groups.WAITING] |= own
        c.table[sm, sms.GROUPS_LATCHED] |= c.rows[group, groups.OWN]
    else:
        c.rows[c.rows[warp, warps.LATCHED_END], ops.NEXT] = op
    c.rows[warp, warps.LATCHED_END] = op


# Entry.


@stands_for(operand_collector.enter, when.OWNED)
def enter(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """The first latched instruction of each warp takes a free collector of its slot, the oldest first."""
    group = group_at(c, sm, 0)
    able = c.rows[group, groups.FREE] & c.rows[group, groups.WAITING]
    while able != 0:
        slot = _first_to_enter(c, sm, able)
        op = c.rows[warp_at(c, sm, slot), warps.LATCHED]
        if is_ready(c, op, now):
            c.rows[warp_at(c, sm, slot), warps.LATCHED] = c.rows[op, ops.NEXT]
            if c.rows[op, ops.NEXT] == NONE:
                c.rows[group, groups.WAITING] ^= bit(slot)
            collector = _take_place(c, sm, group, slot)
            able &= c.rows[group, groups.FREE] & c.rows[group, groups.WAITING]
            take_collector(c, d, sm, collector, op, now)
        else:
            able ^= bit(slot)
    if c.rows[group, groups.WAITING] == 0:
        c.table[sm, sms.GROUPS_LATCHED] = 0


def _first_to_enter(c: Core, sm: SmRow, able: int) -> int:
    """The slot whose first latched instruction issued first."""
    first = lowest(able)
    rest = able ^ bit(first)
    while rest != 0:
        slot = lowest(rest)
        rest ^= bit(slot)
        if _sequence(c, sm, slot) < _sequence(c, sm, first):
            first = slot
    return first


def _sequence(c: Core, sm: SmRow, slot: int) -> int:
    return c.rows[c.rows[warp_at(c, sm, slot), warps.LATCHED], ops.SEQUENCE]


def _take_place(c: Core, sm: SmRow, group: GroupRow, slot: int) -> int:
    """A free collector of a slot, which is in use from now on."""
    first = _first_of(c, sm, slot)
    place = lowest(~c.rows[first, collectors.IN_USE])
    c.rows[first, collectors.IN_USE] |= bit(place)
    if c.rows[first, collectors.IN_USE] == bit(reading()) - 1:
        c.rows[group, groups.FREE] ^= bit(slot)
    return slot * reading() + place


@stands_for(operand_collector.wanted, when.OWNED)
def wanted(c: Core, group: GroupRow) -> int:
    """The slots with a latched instruction."""
    return c.rows[group, groups.WAITING]


# Dispatch.


@stands_for(operand_collector.can_go, when.OWNED)
def can_go(c: Core, sm: SmRow, collector: int, units: UnitsRow) -> None:
    """Mark a collector as ready for the units of its instruction."""
    slot = collector // reading()
    c.rows[_first_of(c, sm, slot), collectors.READY] |= bit(collector - slot * reading())
    c.table[sm, sms.READY_COLLECTORS] |= bit(slot)
    c.table[sm, sms.TRIED] &= ~bit(slot)
    c.rows[units, function_units.COLLECTED_FOR] |= bit(slot)
    c.table[sm, sms.UNITS_ASKED] |= c.rows[units, function_units.OWN]


@stands_for(operand_collector.dispatch, when.OWNED)
def dispatch(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Dispatch instructions whose operands are all present, slot by slot, to free units.

    Returns the first later cycle in which one that had to wait may dispatch, NEVER if that depends on other events
    only.
    """
    later = NEVER
    able = 0
    asked = c.table[sm, sms.UNITS_ASKED]
    while asked != 0:
        units = units_at(c, sm, lowest(asked))
        asked &= asked - 1
        free = free_at(c, sm, units)
        if free > now:
            later = min(later, free)
        else:
            able |= c.rows[units, function_units.OWN]
    waiting = _asking(c, sm, able)
    _try_all(c, sm, waiting)
    while waiting != 0:
        slot = slot_to_go(c, sm, waiting)
        first = _first_of(c, sm, slot)
        place = _oldest(c, sm, slot, c.rows[first, collectors.TO_TRY])
        c.rows[first, collectors.TO_TRY] ^= bit(place)
        if c.rows[first, collectors.TO_TRY] == 0:
            waiting ^= bit(slot)
        row = collector_at(c, sm, slot * reading() + place)
        units = c.rows[row, collectors.UNITS]
        until = max(c.rows[row, collectors.READY_AT], free_at(c, sm, units))
        if until > now:
            later = min(later, until)
            continue
        op = c.rows[row, collectors.HELD]
        take_unit(c, units, now + c.code[c.rows[op, ops.PC], code.INITIATION])
        _leave(c, sm, slot, place, op, units, now)
        begin(c, d, sm, op, 0, now)
        until = free_at(c, sm, units)
        if until > now:
            later = min(later, until)
            able &= ~c.rows[units, function_units.OWN]
            waiting &= _asking(c, sm, able)
    return later


def _asking(c: Core, sm: SmRow, able: int) -> int:
    """The slots with a ready instruction for some units."""
    found = 0
    while able != 0:
        found |= c.rows[units_at(c, sm, lowest(able)), function_units.COLLECTED_FOR]
        able &= able - 1
    return found


def _try_all(c: Core, sm: SmRow, slots: int) -> None:
    """The ready instructions of slots are still to be tried."""
    while slots != 0:
        first = _first_of(c, sm, lowest(slots))
        slots &= slots - 1
        c.rows[first, collectors.TO_TRY] = c.rows[first, collectors.READY]


@port("a turn of all slots")
def slot_to_go(c: Core, sm: SmRow, among: int) -> int:
    """The slot with the oldest instruction that is still to be tried."""
    oldest = lowest(among)
    rest = among ^ bit(oldest)
    while rest != 0:
        slot = lowest(rest)
        rest ^= bit(slot)
        if _oldest_to_try(c, sm, slot) < _oldest_to_try(c, sm, oldest):
            oldest = slot
    return oldest


@stands_for(slot_to_go, when.IN_TURN)
def slot_in_turn(c: Core, sm: SmRow, among: int) -> int:
    """The first slot after the one that dispatched last."""
    return round_after(among, c.table[sm, sms.LAST_DISPATCH])


def _oldest_to_try(c: Core, sm: SmRow, slot: int) -> int:
    place = _oldest(c, sm, slot, c.rows[_first_of(c, sm, slot), collectors.TO_TRY])
    return c.sequences[_number(c, sm, slot) + place]


def _leave(c: Core, sm: SmRow, slot: int, place: int, op: OpRow, units: UnitsRow, now: int) -> None:
    """An instruction leaves its collector, and its warp has one less to dispatch."""
    first = _first_of(c, sm, slot)
    c.rows[first, collectors.IN_USE] ^= bit(place)
    c.rows[first, collectors.READY] ^= bit(place)
    if c.rows[first, collectors.READY] == 0:
        c.table[sm, sms.READY_COLLECTORS] ^= bit(slot)
    if not _asks(c, sm, slot, units):
        c.rows[units, function_units.COLLECTED_FOR] ^= bit(slot)
        if c.rows[units, function_units.COLLECTED_FOR] == 0:
            c.table[sm, sms.UNITS_ASKED] ^= c.rows[units, function_units.OWN]
    c.rows[group_at(c, sm, 0), groups.FREE] |= bit(slot)
    c.table[sm, sms.LAST_DISPATCH] = slot
    warp = c.rows[op, ops.WARP]
    if is_full(c, warp):
        c.rows[c.rows[warp, warps.TURN_ROW], schedulers.COLLECTOR_FULL] ^= c.rows[warp, warps.OWN]
    c.rows[warp, warps.COLLECTING] -= 1
    count_cycles(c, op, now)


def _asks(c: Core, sm: SmRow, slot: int, units: UnitsRow) -> bool:
    """Whether a ready instruction of a slot goes to some units."""
    ready = c.rows[_first_of(c, sm, slot), collectors.READY]
    found = False
    while ready != 0 and not found:
        found = c.rows[collector_at(c, sm, slot * reading() + lowest(ready)), collectors.UNITS] == units
        ready &= ready - 1
    return found


# Collectors of a slot.


def _first_of(c: Core, sm: SmRow, slot: int) -> CollectorRow:
    """The first collector of a slot."""
    return collector_at(c, sm, slot * reading())


def _number(c: Core, sm: SmRow, slot: int) -> int:
    """Its row in ``c.sequences``."""
    return sm * c.machine[machine.COLLECTORS] + slot * reading()


def _oldest(c: Core, sm: SmRow, slot: int, among: int) -> int:
    """Of a non-empty set of a slot's collectors, the one whose instruction issued first."""
    number = _number(c, sm, slot)
    oldest = lowest(among)
    rest = among ^ bit(oldest)
    while rest != 0:
        place = lowest(rest)
        rest ^= bit(place)
        if c.sequences[number + place] < c.sequences[number + oldest]:
            oldest = place
    return oldest


@stands_for(operand_collector.port_of, when.SEVERAL_READ)
def port_of(c: Core, row: CollectorRow) -> CollectorRow:
    """The first collector of the same slot: all of them share its ports."""
    width = c.machine[machine.COLLECTOR_ROW]
    beyond: Any = (row - c.machine[machine.FIRST_COLLECTOR]) // width % reading()
    first: Any = row - beyond * width
    return first


# Stall account.


@stands_for(stall_account.blocked_warps, when.OWNED)
def blocked_warps(c: Core, sm: SmRow, scheduler: int, cycles: int, now: int) -> int:
    """Ready warps whose collector has no room; attribute ``cycles`` of each in the stall account."""
    row = scheduler_at(c, sm, scheduler)
    ready = c.rows[row, schedulers.READY] & ~c.rows[row, schedulers.WANTS + pipes.CTRL]
    blocked = left = ready & c.rows[row, schedulers.COLLECTOR_FULL]
    while left != 0:
        position = lowest(left)
        left ^= bit(position)
        c.rows[account_of(c, row), blocking_cause(c, sm, warp_of(c, sm, scheduler, position), now)] += cycles
    return blocked


def blocking_cause(c: Core, sm: SmRow, warp: WarpRow, now: int) -> Cause:
    """What the oldest instruction in the warp's collectors waits for."""
    slot = slot_of(c, sm, warp)
    first = _first_of(c, sm, slot)
    inside = c.rows[first, collectors.IN_USE]
    if c.rows[first, collectors.READY] == 0:
        return causes.OPERANDS
    place = _oldest(c, sm, slot, inside)
    row = collector_at(c, sm, slot * reading() + place)
    is_ready = c.rows[first, collectors.READY] & bit(place) != 0
    if not is_ready or c.rows[row, collectors.READY_AT] > now:
        return causes.OPERANDS
    if c.rows[c.rows[row, collectors.UNITS], function_units.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return causes.MEMORY_QUEUE
    return causes.UNIT
