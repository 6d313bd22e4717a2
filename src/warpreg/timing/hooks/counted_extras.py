"""Extra accesses of banks as numbers, in place of entries in the queues of banks.

Nothing waits for an extra access, so those of one bank need not be told apart, unless transfers are among them or each
is recorded.  Those that come when the queue of the bank is empty are counted in AHEAD of the bank, which serves them
before its queue; others are entries behind the results that came before them.
"""

from __future__ import annotations

from piecewise_numba.noinline import noinline
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import banks, clock, ops, sms
from warpreg.timing.core.inflight import take_op
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.rows import bank_at, warp_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BankRow, SmRow, WarpRow
from warpreg.timing.hooks import adapters
from warpreg.timing.sm.writeback import queue_write


@stands_for(adapters.ask_bank, when.COUNTS_EXTRAS)
def ask_bank(c: Core, sm: SmRow, warp: WarpRow, bank: int) -> None:
    c.rows[bank_at(c, sm, bank), banks.ASKED] += 1
    c.table[sm, sms.EXTRA_BANKS] |= bit(bank)


@stands_for(ports.queue_extras, when.COUNTS_EXTRAS)
def queue_extras(c: Core, sm: SmRow) -> None:
    asked = c.table[sm, sms.EXTRA_BANKS]
    if asked == 0:
        return
    c.table[sm, sms.EXTRA_BANKS] = 0
    while asked != 0:
        bank = lowest(asked)
        asked ^= bit(bank)
        row = bank_at(c, sm, bank)
        count = c.rows[row, banks.ASKED]
        c.rows[row, banks.ASKED] = 0
        if c.rows[row, banks.WRITES_HEAD] != NONE:
            _queue_behind(c, sm, bank, count)
        else:
            c.rows[row, banks.AHEAD] += count
            is_first = c.table[sm, sms.WRITE_BANKS] & bit(bank) == 0
            c.clock[clock.WRITE_CONFLICTS] += count - is_first
            c.table[sm, sms.WRITE_BANKS] |= bit(bank)


@noinline
def _queue_behind(c: Core, sm: SmRow, bank: int, count: int) -> None:
    """Extra accesses join the queue of a bank, behind results."""
    for _ in range(count):
        if c.clock[clock.FREE_OPS] < 2:
            c.clock[clock.OVERFLOW] = 1
            return
        op = take_op(c, sm, warp_at(c, sm, 0), ops.EXTRA)
        queue_write(c, sm, bank, op, 0)


@stands_for(ports.serves_extra, when.COUNTS_EXTRAS)
def serves_extra(c: Core, row: BankRow) -> bool:
    if c.rows[row, banks.AHEAD] == 0:
        return False
    c.rows[row, banks.AHEAD] -= 1
    return True


@stands_for(ports.has_extras, when.COUNTS_EXTRAS)
def has_extras(c: Core, row: BankRow) -> bool:
    return c.rows[row, banks.AHEAD] != 0
