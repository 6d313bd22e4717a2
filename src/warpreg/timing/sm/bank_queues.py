"""Queues of reads in front of banks, in place of sets of collectors, where warp slots own collectors.

A request is a source of the instruction in a collector.  The queue of a bank is in the order of issue, and in operand
order within an instruction, so its first request is the one that the bank grants.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import banks, clock, collectors, machine, ops, sms
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.rows import bank_at, collector_index
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BankRow, CollectorRow, SmRow
from warpreg.timing.sm import operand_collector
from warpreg.timing.sm.operand_collector import can_go, is_there, takes
from warpreg.timing.sm.shared_access import across_instructions, address, join, place_of, shares_port

SOURCE_BITS = 6
SOURCE = (1 << SOURCE_BITS) - 1


@stands_for(operand_collector.request, when.OWNED)
def request(c: Core, sm: SmRow, collector: int, row: CollectorRow, k: int, bank: int) -> None:
    """The k-th source of the instruction in a collector waits for its bank, behind instructions that issued before."""
    bank_row = bank_at(c, sm, bank)
    added: Any = row << SOURCE_BITS | k
    before: Any = NONE
    following: Any = NONE
    if c.table[sm, sms.REQUEST_BANKS] & bit(bank) != 0:
        before = c.rows[bank_row, banks.LAST_REQUEST]
        if _sequence(c, before) > _sequence(c, added):
            before, following = NONE, c.rows[bank_row, banks.FIRST_REQUEST]
            while _sequence(c, following) <= _sequence(c, added):
                before, following = following, _following(c, following)
    c.table[sm, sms.REQUEST_BANKS] |= bit(bank)
    _link(c, bank_row, before, added)
    _link(c, bank_row, added, following)


@stands_for(operand_collector.read_banks, when.OWNED & ~when.SHARED)
def read_banks(c: Core, d: Any, sm: SmRow, taken: int, now: int, after: int) -> None:
    """Every bank that is not ``taken`` grants its first request, unless all ports of its collector are in use."""
    waiting = c.table[sm, sms.REQUEST_BANKS] & ~taken
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        bank_row = bank_at(c, sm, bank)
        first = c.rows[bank_row, banks.FIRST_REQUEST]
        if takes(c, _collector(first), now):
            _grant_first(c, d, sm, bank, bank_row, first, now, after)
            following = c.rows[bank_row, banks.FIRST_REQUEST]
            while c.machine[machine.WHOLE_INSTRUCTIONS] != 0 and _is_of(following, _collector(first)):
                _grant_first(c, d, sm, bank, bank_row, following, now, after)
                following = c.rows[bank_row, banks.FIRST_REQUEST]
    _count_waits(c, sm)


@stands_for(operand_collector.read_banks, when.OWNED & when.SHARED)
def read_together(c: Core, d: Any, sm: SmRow, taken: int, now: int, after: int) -> None:
    """In place of `read_banks` with slices or row addresses: other requests of the queue join where they fit, those of
    other instructions only ``across_instructions``.
    """
    waiting = c.table[sm, sms.REQUEST_BANKS] & ~taken
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        _read_bank(c, d, sm, bank, now, after)
    _count_waits(c, sm)


def _read_bank(c: Core, d: Any, sm: SmRow, bank: int, now: int, after: int) -> None:
    bank_row = bank_at(c, sm, bank)
    c.rows[bank_row, banks.ROWS] = 0
    asked = c.rows[bank_row, banks.FIRST_REQUEST]
    first = row = _collector(asked)
    before: Any = NONE
    granted = joined = 0
    has_port = True
    while asked != NONE:
        if _collector(asked) != row:
            if not across_instructions() or granted == 0:
                break
            row, joined, has_port = _collector(asked), 0, True
        following = _following(c, asked)
        word = address(c, row, asked & SOURCE)
        place: Any = NONE
        if has_port:
            place = place_of(c, bank_row, word)
        if place != NONE and (joined == 0 or not shares_port()):
            has_port = takes(c, row, now)
        if place != NONE and has_port:
            if row != first:
                c.clock[clock.SHARED_ACROSS] += 1
            elif joined > 0:
                c.clock[clock.SHARED_READS] += 1
            granted += 1
            joined += 1
            join(c, bank_row, place, word)
            _unlink(c, sm, bank, bank_row, before, asked)
            _grant(c, d, sm, asked, now, after)
        else:
            before = asked
        asked = following


def _is_of(asked: int, row: CollectorRow) -> bool:
    """Whether a request is one, and of this collector."""
    return asked != NONE and _collector(asked) == row


def _grant_first(c: Core, d: Any, sm: SmRow, bank: int, row: BankRow, first: int, now: int, after: int) -> None:
    _unlink(c, sm, bank, row, NONE, first)
    _grant(c, d, sm, first, now, after)


def _grant(c: Core, d: Any, sm: SmRow, granted: int, now: int, after: int) -> None:
    row = _collector(granted)
    k = granted & SOURCE
    is_there(c, row, k, now, after)
    ports.collected(c, d, sm, c.rows[row, collectors.HELD], k, now)
    if c.rows[row, collectors.MISSING] == 0:
        number = collector_index(c, sm, row)
        can_go(c, sm, number, c.rows[row, collectors.UNITS])


def _collector(asked: int) -> CollectorRow:
    """The collector of a request."""
    row: Any = asked >> SOURCE_BITS
    return row


def _sequence(c: Core, asked: int) -> int:
    """When its instruction issued."""
    return c.rows[c.rows[_collector(asked), collectors.HELD], ops.SEQUENCE]


def _following(c: Core, asked: int) -> Any:
    """The next request of the queue, NONE at its end."""
    return c.rows[_collector(asked), c.machine[machine.COLLECTOR_LINKS] + (asked & SOURCE)]


def _link(c: Core, bank: BankRow, asked: int, following: int) -> None:
    """Let a request follow another one; NONE stands for the ends of the queue."""
    if asked == NONE:
        c.rows[bank, banks.FIRST_REQUEST] = following
    else:
        c.rows[_collector(asked), c.machine[machine.COLLECTOR_LINKS] + (asked & SOURCE)] = following
    if following == NONE:
        c.rows[bank, banks.LAST_REQUEST] = asked


def _unlink(c: Core, sm: SmRow, bank: int, row: BankRow, before: int, asked: int) -> None:
    """Take a request out of the queue of its bank."""
    _link(c, row, before, _following(c, asked))
    if c.rows[row, banks.FIRST_REQUEST] == NONE:
        c.table[sm, sms.REQUEST_BANKS] ^= bit(bank)


def _count_waits(c: Core, sm: SmRow) -> None:
    still = c.table[sm, sms.REQUEST_BANKS]
    if still != 0:
        c.clock[clock.BANK_CONFLICTS] += count(still)
