"""Operand path without collectors: a read window for fixed latency, queues for variable latency.

Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025), sections 5.1, 5.3.
"""

from __future__ import annotations

from typing import Any

from warpreg.gpu import pipes
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import banks, clock, code, collectors, groups, machine, ops, schedulers, sms
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.rows import bank_at, collector_at, group_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    NEVER,
    NONE,
    BankRow,
    CollectorRow,
    GroupRow,
    OpRow,
    Pc,
    SchedulerRow,
    SmRow,
    UnitsRow,
)
from warpreg.timing.sm import operand_collector, writeback
from warpreg.timing.sm.function_units import free_at, take_unit, units_of
from warpreg.timing.sm.load_store_unit import begin
from warpreg.timing.sm.operand_collector import count_cycles, group_of, read_banks, take_collector
from warpreg.timing.sm.writeback import leave_scoreboard, queue_write

STAGES = 2
"""Cycles from issue to the allocation of reads: a stage for control, and one to allocate."""
IN_WINDOW = 1
"""Cycles of a source of another level that the window covers, as it covers those of a bank."""
CYCLE_BITS, PORTS_MASK, WINDOW_CYCLES = 2, 3, 30
"""Bits of RESERVED for each cycle, their mask, and the cycles that fit."""


@stands_for(ports.collect, when.WINDOW)
def collect(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Dispatch from the queues, the oldest head first; then banks read for them through ports that are not reserved.

    Returns the first later cycle in which the head of a queue may be dispatched, as far as known.
    """
    later = NEVER
    waiting = c.table[sm, sms.GROUPS_LATCHED]
    while waiting != 0:
        group = _oldest(c, sm, waiting)
        waiting ^= c.rows[group, groups.OWN]
        later = min(later, _dispatch_head(c, d, sm, group, now))
    if c.table[sm, sms.REQUEST_BANKS] != 0:
        read_banks(c, d, sm, _reserved_banks(c, sm, now), now, now + 1)
        later = min(later, now + 1)
    return later


def _oldest(c: Core, sm: SmRow, among: int) -> GroupRow:
    """The queue whose head issued first."""
    oldest = group_at(c, sm, lowest(among))
    rest = among & (among - 1)
    while rest != 0:
        other = group_at(c, sm, lowest(rest))
        rest &= rest - 1
        if _sequence(c, other) < _sequence(c, oldest):
            oldest = other
    return oldest


def _sequence(c: Core, group: GroupRow) -> int:
    return c.rows[c.rows[group, groups.LATCHED], ops.SEQUENCE]


def _dispatch_head(c: Core, d: Any, sm: SmRow, group: GroupRow, now: int) -> int:
    """Dispatch the first instruction of a queue if it may be now; returns when to look again, NEVER if unknown."""
    op = c.rows[group, groups.LATCHED]
    collector = c.rows[op, ops.PLACE]
    row = collector_at(c, sm, collector)
    if c.rows[row, collectors.MISSING] != 0:
        return NEVER
    pc = c.rows[op, ops.PC]
    units = c.rows[op, ops.UNITS]
    first = max(c.rows[row, collectors.READY_AT], c.rows[op, ops.ISSUED] + c.code[pc, code.LEAD])
    first = max(first, free_at(c, sm, units))
    if _enters_memory(c, pc):
        first = max(first, c.table[sm, sms.ACCEPTS_FROM])
    if first > now:
        return first
    take_unit(c, units, now + c.code[pc, code.INITIATION])
    if _enters_memory(c, pc):
        c.table[sm, sms.ACCEPTS_FROM] = now + c.machine[machine.INTERVAL]
    _leave(c, sm, group, row, collector, op)
    count_cycles(c, op, now)
    ports.sources_read(c, op)
    begin(c, d, sm, op, 0, now)
    return now + 1 if c.rows[group, groups.LATCHED] != NONE else NEVER


def _enters_memory(c: Core, pc: Pc) -> bool:
    pipe = c.code[pc, code.PIPE]
    return pipe == pipes.MEM or pipe == pipes.TEX


def _leave(c: Core, sm: SmRow, group: GroupRow, row: CollectorRow, collector: int, op: OpRow) -> None:
    """The first instruction of a queue leaves it."""
    c.rows[group, groups.LATCHED] = c.rows[op, ops.NEXT]
    if c.rows[op, ops.NEXT] == NONE:
        c.table[sm, sms.GROUPS_LATCHED] ^= c.rows[group, groups.OWN]
    c.rows[group, groups.FREE] |= bit(collector)
    c.rows[row, collectors.HELD] = NONE
    c.rows[op, ops.TO_SEND] = 0


@stands_for(ports.is_collecting, when.WINDOW)
def is_collecting(c: Core, sm: SmRow) -> bool:
    """Whether banks have something to do in the next cycle."""
    return c.table[sm, sms.WRITE_BANKS] | c.table[sm, sms.REQUEST_BANKS] != 0


@stands_for(ports.may_refuse, when.WINDOW)
def may_refuse(c: Core, sm: SmRow, row: SchedulerRow, now: int) -> int:
    return (1 << len(pipes.PIPES)) - 1


@stands_for(ports.refuses, when.WINDOW)
def refuses(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> bool:
    free = c.rows[row, schedulers.ISSUES_FROM]
    if free <= now and pipe == pipes.CTRL:
        return False
    group = group_of(c, row, pipe)
    if free <= now and c.rows[group, groups.IN_PORTS] != 0:
        return c.rows[group, groups.FREE] == 0
    if free <= now:
        free = free_at(c, sm, units_of(c, row, pipe))
    if free <= now:
        return False
    c.table[sm, sms.RETRY_AT] = min(c.table[sm, sms.RETRY_AT], free)
    return True


@stands_for(ports.waits_for, when.WINDOW)
def waits_for(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> UnitsRow:
    """Operands, if the stage after issue is in use; the units of the pipe otherwise."""
    return NONE if c.rows[row, schedulers.ISSUES_FROM] > now else units_of(c, row, pipe)


@stands_for(ports.take, when.WINDOW)
def take(c: Core, d: Any, sm: SmRow, row: SchedulerRow, pipe: int, pc: Pc, op: OpRow, now: int) -> None:
    """Pass an issued instruction to the window, or to the queue of its pipe."""
    c.rows[op, ops.UNITS] = units_of(c, row, pipe)
    c.rows[op, ops.NEXT] = NONE
    group = group_of(c, row, pipe)
    if c.code[pc, code.LEAD] == 0:
        _allocate(c, d, sm, row, group, pc, op, now)
    else:
        _queue(c, d, sm, group, pc, op, now)


def _queue(c: Core, d: Any, sm: SmRow, group: GroupRow, pc: Pc, op: OpRow, now: int) -> None:
    """An instruction of variable latency takes a place of its pipe's queue and requests its words."""
    collector = lowest(c.rows[group, groups.FREE])
    c.rows[group, groups.FREE] ^= bit(collector)
    c.rows[op, ops.PLACE] = collector
    ports.queued(c, c.rows[op, ops.WARP], pc)
    if c.rows[group, groups.LATCHED] == NONE:
        c.rows[group, groups.LATCHED] = op
        c.table[sm, sms.GROUPS_LATCHED] |= c.rows[group, groups.OWN]
    else:
        c.rows[c.rows[group, groups.LATCHED_END], ops.NEXT] = op
    c.rows[group, groups.LATCHED_END] = op
    take_collector(c, d, sm, collector, op, now)
    row = collector_at(c, sm, collector)
    c.rows[row, collectors.READY_AT] = max(c.rows[row, collectors.READY_AT], now + ports.late_entry(c, op, now))
    earliest = now + c.code[pc, code.LEAD]
    c.table[sm, sms.RETRY_AT] = min(c.table[sm, sms.RETRY_AT], max(now + 1, earliest))


def _allocate(c: Core, d: Any, sm: SmRow, row: SchedulerRow, group: GroupRow, pc: Pc, op: OpRow, now: int) -> None:
    """Reserve ports for all words of an instruction of fixed latency, in the first window that has enough.

    Instructions of a scheduler allocate in order, one a cycle, and one that waits keeps the stage behind it.
    """
    place = collector_at(c, sm, lowest(c.rows[group, groups.ALL]))
    c.rows[place, collectors.HELD] = op
    later = _words(c, d, sm, place, pc, op, now) + ports.late_entry(c, op, now)
    enters = max(now + 1, c.rows[row, schedulers.ALLOCATED])
    at = enters + 1
    while not _fits(c, sm, place, at + 1, now):
        at += 1
    _reserve(c, sm, place, at + 1, now)
    c.clock[clock.BANK_CONFLICTS] += at - enters - 1
    c.rows[row, schedulers.ALLOCATED] = at
    c.rows[row, schedulers.ISSUES_FROM] = enters
    units = c.rows[op, ops.UNITS]
    take_unit(c, units, now + c.code[pc, code.INITIATION])
    c.rows[op, ops.ENTERED] = now
    count_cycles(c, op, at - STAGES)
    ports.sources_read(c, op)
    begin(c, d, sm, op, at - STAGES - now + later, now)


def _words(c: Core, d: Any, sm: SmRow, place: CollectorRow, pc: Pc, op: OpRow, now: int) -> int:
    """Write the words of an instruction that are in banks to its place; returns the cycles by which others delay it."""
    first = ports.first_read(c, pc)
    last = ports.end_of_reads(c, pc)
    warp = c.rows[op, ops.WARP]
    later = 0
    for source in range(first, last):
        k = source - first
        word = ports.source_word(c, d, warp, op, k, source)
        c.rows[place, collectors.WORD + k] = word
        if word < 0:
            ports.served_elsewhere(c, d, sm, op, k, word, now)
            later = max(later, -1 - word - IN_WINDOW)
            continue
        later = max(later, word >> operand_word.CYCLE_SHIFT)
        other = ports.same_word(c, first, k, place, word)
        if other != NONE:
            c.rows[place, collectors.WORD + k] = NONE
            continue
        ports.collected(c, d, sm, op, k, now)
    c.rows[place, collectors.WORD_COUNT] = last - first
    return later


def _fits(c: Core, sm: SmRow, place: CollectorRow, begins: int, now: int) -> bool:
    """Whether the window that begins in a cycle has enough ports for all words of an instruction."""
    for k in range(c.rows[place, collectors.WORD_COUNT]):
        if _is_first_of_bank(c, place, k):
            bank = c.rows[place, collectors.WORD + k] & operand_word.SAYS_BANK
            needed = accesses(c, sm, place, bank)
            if _free_ports(c, bank_at(c, sm, bank), begins, _window(c, needed), now) < needed:
                return False
    return True


def _is_first_of_bank(c: Core, place: CollectorRow, k: int) -> bool:
    """Whether the k-th word of an instruction is in a bank, and no earlier one is in the same."""
    word = c.rows[place, collectors.WORD + k]
    if word < 0:
        return False
    for other in range(k):
        earlier = c.rows[place, collectors.WORD + other]
        if earlier >= 0 and (earlier ^ word) & operand_word.SAYS_BANK == 0:
            return False
    return True


@port("banks with slices or row addresses")
def accesses(c: Core, sm: SmRow, place: CollectorRow, bank: int) -> int:
    """Accesses of a bank for the words of an instruction: one for each."""
    needed = 0
    for k in range(c.rows[place, collectors.WORD_COUNT]):
        word = c.rows[place, collectors.WORD + k]
        if word >= 0 and word & operand_word.SAYS_BANK == bank:
            needed += 1
    return needed


def _window(c: Core, needed: int) -> int:
    """Cycles of a window: those of the machine, or as many as a bank takes for the words of one instruction."""
    ports_of_bank = c.machine[machine.READ_PORTS]
    return max(c.machine[machine.READ_CYCLES], (needed + ports_of_bank - 1) // ports_of_bank)


def _free_ports(c: Core, row: BankRow, begins: int, cycles: int, now: int) -> int:
    """Reads that a bank can still serve in a window."""
    reserved = _reservations(c, row, now) >> CYCLE_BITS * (begins - now)
    free = 0
    for _ in range(cycles):
        free += c.machine[machine.READ_PORTS] - (reserved & PORTS_MASK)
        reserved >>= CYCLE_BITS
    return free


def _reservations(c: Core, row: BankRow, now: int) -> int:
    """The reservations of a bank from this cycle on."""
    passed = now - c.rows[row, banks.RESERVED_FROM]
    if passed > 0:
        kept = c.rows[row, banks.RESERVED] >> CYCLE_BITS * passed if passed < WINDOW_CYCLES else 0
        c.rows[row, banks.RESERVED] = kept
        c.rows[row, banks.RESERVED_FROM] = now
    return c.rows[row, banks.RESERVED]


def _reserve(c: Core, sm: SmRow, place: CollectorRow, begins: int, now: int) -> None:
    """Reserve the first free ports of a window for the accesses of each bank."""
    for k in range(c.rows[place, collectors.WORD_COUNT]):
        if _is_first_of_bank(c, place, k):
            bank = c.rows[place, collectors.WORD + k] & operand_word.SAYS_BANK
            row = bank_at(c, sm, bank)
            for _ in range(accesses(c, sm, place, bank)):
                shift = CYCLE_BITS * (begins - now)
                while _reservations(c, row, now) >> shift & PORTS_MASK == c.machine[machine.READ_PORTS]:
                    shift += CYCLE_BITS
                c.rows[row, banks.RESERVED] += 1 << shift


def _reserved_banks(c: Core, sm: SmRow, now: int) -> int:
    """The banks with requests all of whose ports are reserved in this cycle."""
    full = 0
    rest = c.table[sm, sms.REQUEST_BANKS]
    while rest != 0:
        bank = lowest(rest)
        rest &= rest - 1
        if _reservations(c, bank_at(c, sm, bank), now) & PORTS_MASK == c.machine[machine.READ_PORTS]:
            full |= bit(bank)
    return full


@stands_for(operand_collector.can_go, when.WINDOW)
def can_go(c: Core, sm: SmRow, collector: int, units: UnitsRow) -> None:
    """In place of `operand_collector.can_go`: a queue looks at its first instruction only."""


@stands_for(writeback.join, when.WINDOW)
def join(c: Core, sm: SmRow, bank: int, op: OpRow, index: int, now: int) -> None:
    """In place of `writeback.join`: a result of fixed latency is there at once, and takes the port of its bank in this
    cycle; another one waits until no such result takes it.
    """
    if c.code[c.rows[op, ops.PC], code.LEAD] != 0:
        queue_write(c, sm, bank, op, index)
        return
    c.table[sm, sms.WRITTEN_BANKS] |= bit(bank)
    leave_scoreboard(c, sm, op, index, 1, now)
