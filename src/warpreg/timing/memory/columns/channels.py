"""DRAM channels."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Channels = NewType("Channels", int)
_Word = Column[Channels, int]

FREE_AT = _Word(0)  # ticks: when its data bus is free
BURSTS = _Word(1)  # bursts that it has been given
ACTIVATE_AT = _Word(2)  # ticks from which a row may be activated
READ_AT = _Word(3)  # ticks from which data may be read
STEP_AT = _Word(4)  # ticks from which there may be something to do
COUNT = 5
