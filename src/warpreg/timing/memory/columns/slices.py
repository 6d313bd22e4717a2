"""Slices of the second-level cache."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Slices = NewType("Slices", int)
_Word = Column[Slices, int]

FREE_AT = _Word(0)  # ticks: when it is free
REPLY_AT = _Word(1)  # cycles: when its port to the reply network is free
TAKE_AT = _Word(2)  # cycles: when its port from the request network is free
MISSES = _Word(3)  # lines in flight
CHOSEN = _Word(4)  # queue of the request that it accepts in this cycle, or NONE
CHANNEL = _Word(5)  # its DRAM channel
COUNT = 6
