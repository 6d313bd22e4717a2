"""DRAM channels."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Channels = NewType("Channels", int)
_Word = Column[Channels, int]

FREE_AT = _Word(0)  # ticks: when the data bus is free
BURSTS = _Word(1)  # bursts received
ACTIVATE_AT = _Word(2)  # first tick in which a row may be activated
READ_AT = _Word(3)  # first tick in which data may be read
STEP_AT = _Word(4)  # first tick in which the controller may have work
COUNT = 5
