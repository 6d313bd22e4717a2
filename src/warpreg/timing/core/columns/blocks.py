"""Resident thread blocks."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import BlockRow, Column

_Word = Column[BlockRow, int]

INDEX = _Word(0)  # index in the grid
WARPS_LEFT = _Word(1)  # warps that have not ended
HEADS_LEFT = _Word(2)  # warps that have instructions left to issue
WAITING = _Word(3)  # warps at a barrier
COMPLETE = _Word(4)  # set of barriers with a count that are to be released
OWN = _Word(5)  # set that contains only its index in its SM
ARRIVED_BY = _Word(6)  # cycle in which its last arrival has passed the barrier unit
ARRIVED = _Word(7)  # + number: warps that have issued or arrived at a barrier with a count
