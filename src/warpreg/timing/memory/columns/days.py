"""Days: the events of one of the next cycles, as nodes; one more than the node, 0 for none."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Days = NewType("Days", int)
_Word = Column[Days, int]

FIRST_OF_DAY = _Word(0)  # first of the nodes whose events the memory system has planned
LAST_OF_DAY = _Word(1)  # means nothing where there is no first
FIRST_OF_SMS = _Word(2)  # first of those of SMs
LAST_OF_SMS = _Word(3)
COUNT = 4
