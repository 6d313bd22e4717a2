"""Groups of collectors, each fed by the latches of some pipes."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, GroupRow, OpRow

_Word = Column[GroupRow, int]

FREE = _Word(0)  # set of free collectors; if warps own collectors, of slots with a free one
LATCHED = Column[GroupRow, OpRow](1)  # list of instructions in the latches
LATCHED_END = Column[GroupRow, OpRow](2)
IN_PORTS = _Word(3)  # instructions that enter per step, at most
ALL = _Word(4)  # set of all its collectors
EARLIEST = _Word(5)  # collector that was allocated first, NONE if unknown
OWN = _Word(6)  # set that contains only its index in its SM
WAITING = _Word(7)  # slots with a latched instruction, if warps own collectors
COUNT = 8
