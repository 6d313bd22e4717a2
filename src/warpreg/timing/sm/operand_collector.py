"""Phase 2 of a cycle: collectors dispatch, banks read, instructions leave their latches for collectors."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports as calls
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import Core
from warpreg.timing.core.rows import bank_at, collector_at, group_at, units_at
from warpreg.timing.sm.function_units import free_at, take_unit
from warpreg.timing.sm.load_store_unit import begin


def dispatch(c: Core, d: Any, sm: int, now: int) -> int:
    """Collectors whose operands are all there, oldest first, go where a unit takes them.

    Returns the first later cycle in which one that had to wait may go, NEVER if only other events can change that.
    """
    later = at.NEVER
    waiting = 0
    asked = c.table[sm, at.UNITS_ASKED]
    while asked != 0:
        within = lowest(asked)
        asked ^= bit(within)
        units = units_at(c, sm, within)
        free = free_at(c, sm, units)
        if free > now:
            later = min(later, free)
        else:
            waiting |= c.rows[units, at.COLLECTED_FOR]
    waiting &= ~c.table[sm, at.TRIED]
    while waiting != 0:
        collector = _oldest(c, sm, waiting)
        waiting ^= bit(collector)
        place = collector_at(c, sm, collector)
        ready_at = c.rows[place, at.READY_AT]
        if ready_at > now:
            later = min(later, ready_at)
            continue
        op = c.rows[place, at.HELD]
        units = c.rows[place, at.FOR_UNITS]
        free = free_at(c, sm, units)
        if free > now:
            later = min(later, free)
            continue
        take_unit(c, units, now + c.code[c.rows[op, at.OP_PC], at.INITIATION])
        _leave_collector(c, sm, collector, op, units, now)
        begin(c, d, sm, op, 0, now)
    return later


def _leave_collector(c: Core, sm: int, collector: int, op: int, units: int, now: int) -> None:
    c.table[sm, at.READY_COLLECTORS] ^= bit(collector)
    others = c.rows[units, at.COLLECTED_FOR] ^ bit(collector)
    c.rows[units, at.COLLECTED_FOR] = others
    if others == 0:
        c.table[sm, at.UNITS_ASKED] ^= c.rows[units, at.OWN_UNITS]
    place = collector_at(c, sm, collector)
    c.rows[place, at.HELD] = at.NONE
    group = c.rows[place, at.OF_GROUP]
    c.rows[group, at.FREE_COLLECTORS] |= bit(collector)
    if c.rows[group, at.EARLIEST] == collector:
        c.rows[group, at.EARLIEST] = at.NONE
    cycles = now - c.rows[op, at.OP_ENTERED]
    if c.code[c.rows[op, at.OP_PC], at.KIND] != at.NO_ACCESS:
        c.clock[at.COLLECTED_MEMORY] += 1
        c.clock[at.COLLECT_CYCLES_MEMORY] += cycles
    else:
        c.clock[at.COLLECTED] += 1
        c.clock[at.COLLECT_CYCLES] += cycles


def _can_go(c: Core, sm: int, collector: int, units: int) -> None:
    """All operands of a collector are there, whose instruction goes to these units."""
    c.table[sm, at.READY_COLLECTORS] |= bit(collector)
    c.rows[units, at.COLLECTED_FOR] |= bit(collector)
    c.table[sm, at.UNITS_ASKED] |= c.rows[units, at.OWN_UNITS]


def earliest(c: Core, sm: int, group: int) -> int:
    """The collector of a group that was taken first, NONE if all are free; they are taken in the order of issue."""
    found = c.rows[group, at.EARLIEST]
    inside = c.rows[group, at.ALL_COLLECTORS] & ~c.rows[group, at.FREE_COLLECTORS]
    if found == at.NONE and inside != 0:
        found = _oldest(c, sm, inside)
        c.rows[group, at.EARLIEST] = found
    return found


def group_of(c: Core, row: int, pipe: int) -> int:
    """The row of the collectors that a pipe's latch of a scheduler feeds; ``row`` is the scheduler's."""
    return c.rows[row, at.GROUP_FOR + pipe]


def read_banks(c: Core, sm: int, taken: int, now: int, after: int) -> None:
    """Every bank that is not ``taken`` grants its oldest request, unless the collector's ports are all in use.  The
    next step is in cycle ``after``.
    """
    waiting = c.table[sm, at.REQUEST_BANKS] & ~taken
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        row = bank_at(c, sm, bank)
        collector = _oldest(c, sm, c.rows[row, at.REQUESTS])
        place = collector_at(c, sm, collector)
        if _takes(c, place, now):
            if _grant(c, place, bank, now, after):
                c.rows[row, at.REQUESTS] ^= bit(collector)
                if c.rows[row, at.REQUESTS] == 0:
                    c.table[sm, at.REQUEST_BANKS] ^= bit(bank)
            if c.rows[place, at.MISSING] == 0:
                _can_go(c, sm, collector, c.rows[place, at.FOR_UNITS])
    still = c.table[sm, at.REQUEST_BANKS]
    if still != 0:
        c.clock[at.BANK_WAITS] += count(still)


def _oldest(c: Core, sm: int, collectors: int) -> int:
    """Of a set that is not empty."""
    base = sm * c.machine[at.COLLECTORS]
    oldest = lowest(collectors)
    rest = collectors ^ bit(oldest)
    while rest != 0:
        other = lowest(rest)
        rest ^= bit(other)
        if c.sequences[base + other] < c.sequences[base + oldest]:
            oldest = other
    return oldest


def _takes(c: Core, place: int, now: int) -> bool:
    """Whether a collector takes one more operand in this cycle; if so it is counted."""
    ports = c.machine[at.OPERAND_PORTS]
    if ports == 0:
        return True
    if c.rows[place, at.TAKEN_AT] != now:
        c.rows[place, at.TAKEN_AT] = now
        c.rows[place, at.TAKEN] = 0
    if c.rows[place, at.TAKEN] == ports:
        return False
    c.rows[place, at.TAKEN] += 1
    return True


def _grant(c: Core, place: int, bank: int, now: int, after: int) -> bool:
    """The first word of a collector that waits for the bank is there; whether it waits for no other word of it."""
    granted = False
    alone = True
    for word in range(at.WORD, at.WORD + c.rows[place, at.WORD_COUNT]):
        if c.rows[place, word] & at.SAYS_BANK == bank:
            if granted:
                alone = False
            else:
                more = c.rows[place, word] >> at.CYCLE_SHIFT
                there = after + more if more > 0 else now
                c.rows[place, at.READY_AT] = max(c.rows[place, at.READY_AT], there)
                c.rows[place, word] = at.NONE
                granted = True
    c.rows[place, at.MISSING] -= 1
    return alone


def enter(c: Core, d: Any, sm: int, now: int) -> None:
    """Latched instructions, oldest first, take free collectors of their group, at most ``in_ports`` in a step."""
    latched = c.table[sm, at.GROUPS_LATCHED]
    while latched != 0:
        group = lowest(latched)
        latched ^= bit(group)
        row = group_at(c, sm, group)
        ports = c.rows[row, at.IN_PORTS]
        while ports > 0 and c.rows[row, at.FREE_COLLECTORS] != 0 and c.rows[row, at.LATCHED] != at.NONE:
            ports -= 1
            op = c.rows[row, at.LATCHED]
            c.rows[row, at.LATCHED] = c.rows[op, at.OP_NEXT]
            collector = lowest(c.rows[row, at.FREE_COLLECTORS])
            c.rows[row, at.FREE_COLLECTORS] ^= bit(collector)
            _free_latch(c, op)
            _take_collector(c, d, sm, collector, op, now)
        if c.rows[row, at.LATCHED] == at.NONE:
            c.table[sm, at.GROUPS_LATCHED] ^= bit(group)


def _free_latch(c: Core, op: int) -> None:
    c.rows[c.rows[c.rows[op, at.OP_WARP], at.TURN_ROW], at.FULL] ^= bit(c.code[c.rows[op, at.OP_PC], at.PIPE])


def _take_collector(c: Core, d: Any, sm: int, collector: int, op: int, now: int) -> None:
    """Ask the banks for the words of an instruction."""
    place = collector_at(c, sm, collector)
    pc = c.rows[op, at.OP_PC]
    warp = c.rows[op, at.OP_WARP]
    c.rows[op, at.OP_ENTERED] = now
    c.rows[place, at.HELD] = op
    c.rows[place, at.FOR_UNITS] = c.rows[op, at.OP_UNITS]
    c.sequences[sm * c.machine[at.COLLECTORS] + collector] = c.rows[op, at.OP_SEQUENCE]
    missing = 0
    ready_at = now
    first = calls.first_read(c, pc)
    last = calls.end_of_reads(c, pc)
    for row in range(first, last):
        k = row - first
        word = calls.source_word(c, d, warp, op, k, row)
        c.rows[place, at.WORD + k] = word
        if word < 0:
            ready_at = max(ready_at, now - 1 - word)
            continue
        other = calls.same_word(c, first, k, place, word)
        if other != at.NONE:
            c.rows[place, at.WORD + other] = max(c.rows[place, at.WORD + other], word)
            c.rows[place, at.WORD + k] = at.NONE
            continue
        bank = word & at.SAYS_BANK
        missing += 1
        c.rows[bank_at(c, sm, bank), at.REQUESTS] |= bit(collector)
        c.table[sm, at.REQUEST_BANKS] |= bit(bank)
    c.rows[place, at.MISSING] = missing
    c.rows[place, at.WORD_COUNT] = last - first
    c.rows[place, at.READY_AT] = ready_at
    if missing == 0:
        _can_go(c, sm, collector, c.rows[op, at.OP_UNITS])
