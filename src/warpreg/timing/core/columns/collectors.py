"""Operand collectors."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import CollectorRow, Column, GroupRow, OpRow, UnitsRow

_Word = Column[CollectorRow, int]

HELD = Column[CollectorRow, OpRow](0)
MISSING = _Word(1)  # words that are not granted yet
READY_AT = _Word(2)  # cycle in which all granted words are present; if that has passed, any earlier one
TAKEN_AT = _Word(3)  # last cycle in which it accepted operands
TAKEN = _Word(4)  # number of operands accepted in that cycle
WORD_COUNT = _Word(5)
GROUP = Column[CollectorRow, GroupRow](6)
UNITS = Column[CollectorRow, UnitsRow](7)  # units of the instruction that it holds
IN_USE = _Word(8)  # this word and the next two in the first collector of a slot: which of them hold an instruction
READY = _Word(9)  # which of those have all operands
TO_TRY = _Word(10)  # which of those are still to be tried in this step
WORD = _Word(11)  # + k: operand word of the k-th source until it is granted, then NONE
