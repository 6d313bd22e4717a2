"""Phase 2 of a cycle: collectors dispatch, banks read, instructions move from latches to collectors."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import access_record as record
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import (
    banks,
    clock,
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
from warpreg.timing.core.port import port
from warpreg.timing.core.rows import bank_at, collector_at, group_at, units_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, NONE, CollectorRow, GroupRow, OpRow, SchedulerRow, SmRow, UnitsRow
from warpreg.timing.sm.function_units import free_at, take_unit
from warpreg.timing.sm.load_store_unit import begin


@port("collectors of warps")
def dispatch(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Dispatch collectors whose operands are all present, oldest first, to free units.

    Returns the first later cycle in which one that had to wait may dispatch, NEVER if that depends on other events
    only.
    """
    later = NEVER
    waiting = 0
    asked = c.table[sm, sms.UNITS_ASKED]
    while asked != 0:
        within = lowest(asked)
        asked ^= bit(within)
        units = units_at(c, sm, within)
        free = free_at(c, sm, units)
        if free > now:
            later = min(later, free)
        else:
            waiting |= c.rows[units, function_units.COLLECTED_FOR]
    waiting &= ~c.table[sm, sms.TRIED]
    while waiting != 0:
        collector = oldest(c, sm, waiting)
        waiting ^= bit(collector)
        row = collector_at(c, sm, collector)
        ready_at = c.rows[row, collectors.READY_AT]
        if ready_at > now:
            later = min(later, ready_at)
            continue
        op = c.rows[row, collectors.HELD]
        units = c.rows[row, collectors.UNITS]
        free = free_at(c, sm, units)
        if free > now:
            later = min(later, free)
            continue
        take_unit(c, units, now + c.code[c.rows[op, ops.PC], code.INITIATION])
        _leave_collector(c, sm, collector, op, units, now)
        begin(c, d, sm, op, 0, now)
    return later


@port("collectors of warps, several of a warp")
def port_of(c: Core, row: CollectorRow) -> CollectorRow:
    """The collector whose ports a collector uses: its own."""
    return row


def _leave_collector(c: Core, sm: SmRow, collector: int, op: OpRow, units: UnitsRow, now: int) -> None:
    c.table[sm, sms.READY_COLLECTORS] ^= bit(collector)
    others = c.rows[units, function_units.COLLECTED_FOR] ^ bit(collector)
    c.rows[units, function_units.COLLECTED_FOR] = others
    if others == 0:
        c.table[sm, sms.UNITS_ASKED] ^= c.rows[units, function_units.OWN]
    row = collector_at(c, sm, collector)
    c.rows[row, collectors.HELD] = NONE
    group = c.rows[row, collectors.GROUP]
    c.rows[group, groups.FREE] |= bit(collector)
    if c.rows[group, groups.EARLIEST] == collector:
        c.rows[group, groups.EARLIEST] = NONE
    count_cycles(c, op, now)


def count_cycles(c: Core, op: OpRow, now: int) -> None:
    """An instruction leaves its collector: count the cycles that it was there, and before that."""
    is_access = c.code[c.rows[op, ops.PC], code.KIND] != record.NO_ACCESS
    c.clock[clock.COLLECTED_MEMORY if is_access else clock.COLLECTED] += 1
    column = clock.COLLECT_CYCLES_MEMORY if is_access else clock.COLLECT_CYCLES
    c.clock[column] += now - c.rows[op, ops.ENTERED]
    c.clock[clock.LATCH_CYCLES] += c.rows[op, ops.ENTERED] - c.rows[op, ops.ISSUED]


@port("collectors of warps, or a read window")
def can_go(c: Core, sm: SmRow, collector: int, units: UnitsRow) -> None:
    """Mark a collector as ready for the units of its instruction."""
    c.table[sm, sms.READY_COLLECTORS] |= bit(collector)
    c.rows[units, function_units.COLLECTED_FOR] |= bit(collector)
    c.table[sm, sms.UNITS_ASKED] |= c.rows[units, function_units.OWN]


def earliest(c: Core, sm: SmRow, group: GroupRow) -> int:
    """The collector of a group that was allocated first, NONE if all are free; they are allocated in the order of
    issue.
    """
    collector = c.rows[group, groups.EARLIEST]
    inside = c.rows[group, groups.ALL] & ~c.rows[group, groups.FREE]
    if collector == NONE and inside != 0:
        collector = oldest(c, sm, inside)
        c.rows[group, groups.EARLIEST] = collector
    return collector


def group_of(c: Core, row: SchedulerRow, pipe: int) -> GroupRow:
    """The collectors that the latch of a pipe of a scheduler feeds."""
    return c.rows[row, schedulers.GROUP_FOR + pipe]


@port("collectors of warps, or banks with slices or row addresses")
def read_banks(c: Core, d: Any, sm: SmRow, taken: int, now: int, after: int) -> None:
    """Let every bank that is not ``taken`` grant its oldest request, unless all ports of its collector are in use.  The
    next step is in cycle ``after``.
    """
    waiting = c.table[sm, sms.REQUEST_BANKS] & ~taken
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        bank_row = bank_at(c, sm, bank)
        collector = oldest(c, sm, c.rows[bank_row, banks.REQUESTS])
        row = collector_at(c, sm, collector)
        if takes(c, row, now):
            was_last = _grant(c, d, sm, row, bank, now, after)
            while c.machine[machine.WHOLE_INSTRUCTIONS] != 0 and not was_last:
                was_last = _grant(c, d, sm, row, bank, now, after)
            if was_last:
                c.rows[bank_row, banks.REQUESTS] ^= bit(collector)
                if c.rows[bank_row, banks.REQUESTS] == 0:
                    c.table[sm, sms.REQUEST_BANKS] ^= bit(bank)
            if c.rows[row, collectors.MISSING] == 0:
                can_go(c, sm, collector, c.rows[row, collectors.UNITS])
    still = c.table[sm, sms.REQUEST_BANKS]
    if still != 0:
        c.clock[clock.BANK_CONFLICTS] += count(still)


def oldest(c: Core, sm: SmRow, among: int) -> int:
    """The collector of a non-empty set whose instruction issued first."""
    base = sm * c.machine[machine.COLLECTORS]
    oldest = lowest(among)
    rest = among ^ bit(oldest)
    while rest != 0:
        other = lowest(rest)
        rest ^= bit(other)
        if c.sequences[base + other] < c.sequences[base + oldest]:
            oldest = other
    return oldest


def takes(c: Core, row: CollectorRow, now: int) -> bool:
    """Whether a collector accepts one more operand in this cycle; if so, count it."""
    most = c.machine[machine.OPERAND_PORTS]
    if most == 0:
        return True
    row = port_of(c, row)
    if c.rows[row, collectors.TAKEN_AT] != now:
        c.rows[row, collectors.TAKEN_AT] = now
        c.rows[row, collectors.TAKEN] = 0
    if c.rows[row, collectors.TAKEN] == most:
        return False
    c.rows[row, collectors.TAKEN] += 1
    return True


def _grant(c: Core, d: Any, sm: SmRow, row: CollectorRow, bank: int, now: int, after: int) -> bool:
    """Grant the first word of a collector that waits for the bank; returns whether no other word of it waits for the
    bank.
    """
    waiting = 0
    for k in range(c.rows[row, collectors.WORD_COUNT]):
        if c.rows[row, collectors.WORD + k] & operand_word.SAYS_BANK == bank:
            waiting |= bit(k)
    first = lowest(waiting)
    is_there(c, row, first, now, after)
    ports.collected(c, d, sm, c.rows[row, collectors.HELD], first, now)
    return waiting == bit(first)


@port("a recording")
def is_there(c: Core, row: CollectorRow, k: int, now: int, after: int) -> None:
    """The k-th source of a collector is granted."""
    more = c.rows[row, collectors.WORD + k] >> operand_word.CYCLE_SHIFT
    if more > 0:
        c.rows[row, collectors.READY_AT] = max(c.rows[row, collectors.READY_AT], after + more)
    c.rows[row, collectors.WORD + k] = NONE
    c.rows[row, collectors.MISSING] -= 1


@port("collectors of warps, or tables in front of operand fetch")
def enter(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Move latched instructions, oldest first, into free collectors of their group, at most ``in_ports`` per step."""
    latched = c.table[sm, sms.GROUPS_LATCHED]
    while latched != 0:
        group = lowest(latched)
        latched ^= bit(group)
        row = group_at(c, sm, group)
        entering = c.rows[row, groups.IN_PORTS]
        while entering > 0 and c.rows[row, groups.FREE] != 0 and c.rows[row, groups.LATCHED] != NONE:
            entering -= 1
            op = c.rows[row, groups.LATCHED]
            c.rows[row, groups.LATCHED] = c.rows[op, ops.NEXT]
            collector = lowest(c.rows[row, groups.FREE])
            c.rows[row, groups.FREE] ^= bit(collector)
            free_latch(c, op)
            take_collector(c, d, sm, collector, op, now)
        if c.rows[row, groups.LATCHED] == NONE:
            c.table[sm, sms.GROUPS_LATCHED] ^= bit(group)


def free_latch(c: Core, op: OpRow) -> None:
    """An instruction has left its latch for a collector."""
    c.rows[c.rows[c.rows[op, ops.WARP], warps.TURN_ROW], schedulers.FULL] ^= bit(c.code[c.rows[op, ops.PC], code.PIPE])


@port("collectors of warps")
def wanted(c: Core, group: GroupRow) -> int:
    """The collectors of a group that its latched instructions may enter, free or not."""
    return -1


@port("a recording")
def take_collector(c: Core, d: Any, sm: SmRow, collector: int, op: OpRow, now: int) -> None:
    """Request the source words of an instruction from the banks."""
    row = collector_at(c, sm, collector)
    pc = c.rows[op, ops.PC]
    warp = c.rows[op, ops.WARP]
    c.rows[op, ops.ENTERED] = now
    c.rows[row, collectors.HELD] = op
    c.rows[row, collectors.UNITS] = c.rows[op, ops.UNITS]
    c.sequences[sm * c.machine[machine.COLLECTORS] + collector] = c.rows[op, ops.SEQUENCE]
    missing = 0
    ready_at = now
    first = ports.first_read(c, pc)
    last = ports.end_of_reads(c, pc)
    for source in range(first, last):
        k = source - first
        word = ports.source_word(c, d, warp, op, k, source)
        c.rows[row, collectors.WORD + k] = word
        if word < 0:
            ports.served_elsewhere(c, d, sm, op, k, word, now)
            ready_at = max(ready_at, now - 1 - word)
            continue
        other = ports.same_word(c, first, k, row, word)
        if other != NONE:
            c.rows[row, collectors.WORD + other] = max(c.rows[row, collectors.WORD + other], word)
            c.rows[row, collectors.WORD + k] = NONE
            continue
        bank = word & operand_word.SAYS_BANK
        missing += 1
        request(c, sm, collector, row, k, bank)
    c.rows[row, collectors.MISSING] = missing
    c.rows[row, collectors.WORD_COUNT] = last - first
    c.rows[row, collectors.READY_AT] = ready_at
    if missing == 0:
        can_go(c, sm, collector, c.rows[op, ops.UNITS])


@port("collectors of warps, with queues in front of banks")
def request(c: Core, sm: SmRow, collector: int, row: CollectorRow, k: int, bank: int) -> None:
    """The k-th source of the instruction in a collector waits for its bank."""
    c.rows[bank_at(c, sm, bank), banks.REQUESTS] |= bit(collector)
    c.table[sm, sms.REQUEST_BANKS] |= bit(bank)
