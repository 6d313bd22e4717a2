"""Function units that the instructions of a pipe go to."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, UnitsRow

_Word = Column[UnitsRow, int]

FREE_AT = _Word(0)  # when one of them is free
FIRST = _Word(1)  # index of the first in ``Core.units``
SIZE = _Word(2)  # how many they are
FEEDS_QUEUE = _Word(3)  # whether instructions go on to the load-store queue
COLLECTED_FOR = _Word(4)  # the collectors that could be dispatched to them
OWN = _Word(5)  # the set of its index in its SM alone
COUNT = 6
