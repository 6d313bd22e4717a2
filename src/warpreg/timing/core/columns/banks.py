"""Banks of the register file.  A write is a word made by `warpreg.timing.core.operand_word.write_of`."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import BankRow, Column

_Word = Column[BankRow, int]

REQUESTS = _Word(0)  # set of collectors that wait for a read
WRITES_HEAD = _Word(1)  # first write of the queue, NONE if empty
WRITES_TAIL = _Word(2)
FIRST_REQUEST = _Word(3)  # queue of reads if warps own collectors; see `warpreg.timing.sm.bank_queues`
LAST_REQUEST = _Word(4)
WRITES_FROM = _Word(5)  # first cycle in which it may serve its next write
ROWS = _Word(6)  # rows that its access of this step names; see `warpreg.timing.sm.shared_access`
RESERVED = _Word(7)  # with a read window: reads in each cycle from RESERVED_FROM on, two bits for each
RESERVED_FROM = _Word(8)
NAMED = _Word(9)  # + k: address of the k-th of them, with all slices that are accessed there
