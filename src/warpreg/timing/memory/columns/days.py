"""Days: the events of one cycle, as nodes; stored as node plus one, 0 for none."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Days = NewType("Days", int)
_Word = Column[Days, int]

FIRST_OF_DAY = _Word(0)  # first of the nodes scheduled by the memory system
LAST_OF_DAY = _Word(1)  # undefined without a first one
FIRST_OF_SMS = _Word(2)  # first of the nodes scheduled by SMs
LAST_OF_SMS = _Word(3)
COUNT = 4
