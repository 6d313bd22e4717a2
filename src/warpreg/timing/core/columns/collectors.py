"""Collectors: what each holds and waits for."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import CollectorRow, Column, GroupRow, OpRow, UnitsRow

_Word = Column[CollectorRow, int]

HELD = Column[CollectorRow, OpRow](0)
MISSING = _Word(1)  # words that are not granted yet
READY_AT = _Word(2)  # when those that are granted are there
TAKEN_AT = _Word(3)  # the last cycle in which it took operands
TAKEN = _Word(4)  # how many it took then
WORD_COUNT = _Word(5)
GROUP = Column[CollectorRow, GroupRow](6)
UNITS = Column[CollectorRow, UnitsRow](7)  # those that the instruction it holds goes to
WORD = _Word(8)  # + k: operand word of the k-th source until it is granted, then NONE
