"""Function units that execute the instructions of a pipe."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, UnitsRow

_Word = Column[UnitsRow, int]

FREE_AT = _Word(0)  # first cycle in which one of them is free
FIRST = _Word(1)  # index of the first one in ``Core.units``
SIZE = _Word(2)  # number of units
FEEDS_QUEUE = _Word(3)  # whether instructions continue to the load-store queue
COLLECTED_FOR = _Word(4)  # set of collectors that could dispatch to them
OWN = _Word(5)  # set that contains only its index in its SM
COUNT = 6
