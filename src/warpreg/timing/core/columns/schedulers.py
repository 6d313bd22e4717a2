"""Schedulers: sets of positions of their warps, and what their instructions use."""

from __future__ import annotations

from warpreg.gpu.pipes import PIPES
from warpreg.timing.core.columns.typed import Column, GroupRow, SchedulerRow, UnitsRow

_Word = Column[SchedulerRow, int]

READY = _Word(0)  # warps that could issue but for structure
FULL = _Word(1)  # set of pipes whose latch is full
DIRTY = _Word(2)  # warps whose state may have changed
ACTIVE = _Word(3)  # the active set
ELIGIBLE = _Word(4)  # pending warps that could enter it
LAST = _Word(5)  # position of the warp that issued last
LAST_ACTIVE = _Word(6)  # that entered the active set last
WANTED_PIPES = _Word(7)  # set of pipes that heads of ready warps go to
WANTS = _Word(8)  # + pipe: the ready warps whose head goes to it
UNITS_FOR = Column[SchedulerRow, UnitsRow](8 + len(PIPES))  # + pipe: the units that its instructions use
GROUP_FOR = Column[SchedulerRow, GroupRow](8 + 2 * len(PIPES))  # + pipe: the collectors
COUNT = 8 + 3 * len(PIPES)
