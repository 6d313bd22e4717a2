"""Slices of the second-level cache."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Slices = NewType("Slices", int)
_Word = Column[Slices, int]

FREE_AT = _Word(0)  # ticks: when it is free
REPLY_AT = _Word(1)  # cycles: when its port into the reply network is
TAKE_AT = _Word(2)  # cycles: when its port out of the request network is
MISSES = _Word(3)  # lines that it waits for
CHOSEN = _Word(4)  # the queue whose first packet it takes next
COUNT = 5
