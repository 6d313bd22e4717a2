"""Banks with slices or several row addresses: words whose slices do not meet share an access.

`read_banks` takes the place of that of `warpreg.timing.sm.operand_collector` where a design or the machine has such
banks.  An address is ``row << ROW_SHIFT | slices``; a row that no design has named is a register of a warp slot.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import GRANTED, ROW, UNSET
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import banks, clock, collectors, machine, sms
from warpreg.timing.core.port import constant, stands_for
from warpreg.timing.core.rows import bank_at, collector_at, number_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BankRow, CollectorRow, OpRow, SmRow, WarpRow
from warpreg.timing.sm import operand_collector, window_path
from warpreg.timing.sm.operand_collector import can_go, is_there, oldest, takes

ROW_SHIFT = 16
ALL_SLICES = (1 << ROW_SHIFT) - 1
UNNAMED, REGISTER_BITS = 1 << 40, 12
"""Rows of registers begin at UNNAMED, above all that a design may name."""


@constant(when.SHARED, lambda given: given.banks.row_addresses)
def row_addresses() -> int:
    """Rows that an access names at most; a constant of the compiled core, as the next two."""
    return 1


@constant(when.SHARED, lambda given: given.banks.shares_port)
def shares_port() -> bool:
    """Whether words of one instruction that share an access take one port of the collector together."""
    return False


@constant(when.SHARED, lambda given: given.banks.across_instructions)
def across_instructions() -> bool:
    """Whether words of different instructions may share an access."""
    return False


@stands_for(ports.note_source, when.SHARED)
def note_source(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, register: int) -> None:
    """Keep the address of the k-th source."""
    row = d.sources[k, ROW]
    if row == UNSET:
        row = UNNAMED + (number_of(c, warp) << REGISTER_BITS) + register
    slices = d.sources[k, GRANTED] & ALL_SLICES
    c.rows[op, c.machine[machine.OP_ADDRESSES] + k] = row << ROW_SHIFT | slices


@stands_for(operand_collector.read_banks, when.SHARED & ~when.OWNED)
def read_banks(c: Core, d: Any, sm: SmRow, taken: int, now: int, after: int) -> None:
    """Every bank that is not ``taken`` grants its oldest request, and with it what fits."""
    waiting = c.table[sm, sms.REQUEST_BANKS] & ~taken
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        row = bank_at(c, sm, bank)
        c.rows[row, banks.ROWS] = 0
        rest = c.rows[row, banks.REQUESTS]
        first = oldest(c, sm, rest)
        granted = _grant(c, d, sm, first, bank, row, now, after)
        if granted > 1:
            c.clock[clock.SHARED_READS] += granted - 1
        rest ^= bit(first)
        while across_instructions() and granted != 0 and rest != 0:
            other = oldest(c, sm, rest)
            rest ^= bit(other)
            c.clock[clock.SHARED_ACROSS] += _grant(c, d, sm, other, bank, row, now, after)
        if c.rows[row, banks.REQUESTS] == 0:
            c.table[sm, sms.REQUEST_BANKS] ^= bit(bank)
    still = c.table[sm, sms.REQUEST_BANKS]
    if still != 0:
        c.clock[clock.BANK_CONFLICTS] += count(still)


def _grant(c: Core, d: Any, sm: SmRow, collector: int, bank: int, bank_row: BankRow, now: int, after: int) -> int:
    """Words of a collector that join the access of a bank, in operand order; returns how many."""
    row = collector_at(c, sm, collector)
    granted = 0
    left = 0
    has_port = True
    for k in range(c.rows[row, collectors.WORD_COUNT]):
        if c.rows[row, collectors.WORD + k] & operand_word.SAYS_BANK == bank:
            place = NONE
            if has_port:
                place = place_of(c, bank_row, address(c, row, k))
            if place != NONE and (granted == 0 or not shares_port()):
                has_port = takes(c, row, now)
            if place != NONE and has_port:
                join(c, bank_row, place, address(c, row, k))
                is_there(c, row, k, now, after)
                ports.collected(c, d, sm, c.rows[row, collectors.HELD], k, now)
                granted += 1
            else:
                left += 1
    if left == 0:
        c.rows[bank_row, banks.REQUESTS] ^= bit(collector)
    if granted != 0 and c.rows[row, collectors.MISSING] == 0:
        can_go(c, sm, collector, c.rows[row, collectors.UNITS])
    return granted


@stands_for(window_path.accesses, when.SHARED)
def accesses(c: Core, sm: SmRow, row: CollectorRow, bank: int) -> int:
    """With a read window: accesses of a bank for the words of an instruction, in operand order, each with what fits."""
    bank_row = bank_at(c, sm, bank)
    left = 0
    for k in range(c.rows[row, collectors.WORD_COUNT]):
        word = c.rows[row, collectors.WORD + k]
        if word >= 0 and word & operand_word.SAYS_BANK == bank:
            left |= bit(k)
    needed = 0
    while left != 0:
        needed += 1
        c.rows[bank_row, banks.ROWS] = 0
        rest = left
        while rest != 0:
            k = lowest(rest)
            rest ^= bit(k)
            place = place_of(c, bank_row, address(c, row, k))
            if place != NONE:
                join(c, bank_row, place, address(c, row, k))
                left ^= bit(k)
    return needed


def address(c: Core, row: CollectorRow, k: int) -> int:
    """Of the k-th source of the instruction in a collector."""
    return c.rows[c.rows[row, collectors.HELD], c.machine[machine.OP_ADDRESSES] + k]


def place_of(c: Core, bank: BankRow, address: int) -> int:
    """Where a word stands among the rows that the access of this step names, NONE if it does not fit."""
    rows = c.rows[bank, banks.ROWS]
    place = NONE
    fits = True
    for one in range(rows):
        named = c.rows[bank, banks.NAMED + one]
        if named >> ROW_SHIFT == address >> ROW_SHIFT:
            place = one
        elif named & address & ALL_SLICES != 0:
            fits = False
    if place == NONE and rows < row_addresses():
        place = rows
    return place if fits else NONE


def join(c: Core, bank: BankRow, place: int, address: int) -> None:
    if place == c.rows[bank, banks.ROWS]:
        c.rows[bank, banks.ROWS] = place + 1
        c.rows[bank, banks.NAMED + place] = address
    else:
        c.rows[bank, banks.NAMED + place] |= address
