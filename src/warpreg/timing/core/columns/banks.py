"""Banks of the register file.  A write is a word made by `warpreg.timing.core.operand_word.write_of`."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import BankRow, Column

_Word = Column[BankRow, int]

REQUESTS = _Word(0)  # set of collectors that wait for a read
WRITES_HEAD = _Word(1)  # first write of the queue, NONE if empty
WRITES_TAIL = _Word(2)
ROWS = _Word(3)  # rows that its access of this step names; see `warpreg.timing.sm.shared_access`
NAMED = _Word(4)  # + k: address of the k-th of them, with all slices that are accessed there
