"""Groups of collectors, which the latches of some pipes feed."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, GroupRow, OpRow

_Word = Column[GroupRow, int]

FREE = _Word(0)  # collectors that hold nothing
LATCHED = Column[GroupRow, OpRow](1)  # list of instructions in the latches
LATCHED_END = Column[GroupRow, OpRow](2)
IN_PORTS = _Word(3)  # instructions that enter in a step
ALL = _Word(4)  # its collectors
EARLIEST = _Word(5)  # the collector that was taken first, NONE where that is not known
OWN = _Word(6)  # the set of its index in its SM alone
COUNT = 7
