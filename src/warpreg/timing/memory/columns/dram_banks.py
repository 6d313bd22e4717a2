"""Banks of the DRAM channels."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

DramBanks = NewType("DramBanks", int)
_Word = Column[DramBanks, int]

OPEN_ROW = _Word(0)  # open row, or NONE
COLUMN_AT = _Word(1)  # first tick in which it may be read or written
PRECHARGE_AT = _Word(2)  # first tick in which it may be precharged
COUNT = 3
