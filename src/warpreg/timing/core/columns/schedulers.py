"""Schedulers: sets of warp positions, and the units and collectors that their instructions use."""

from __future__ import annotations

from warpreg.gpu.pipes import PIPES
from warpreg.timing.core.columns.typed import Column, GroupRow, SchedulerRow, UnitsRow

_Word = Column[SchedulerRow, int]

READY = _Word(0)  # warps that could issue but for structural hazards
FULL = _Word(1)  # pipes whose latch is full
DIRTY = _Word(2)  # warps whose state may have changed
ACTIVE = _Word(3)  # active set
ELIGIBLE = _Word(4)  # pending warps that may be activated
LAST = _Word(5)  # position of the warp that issued last
LAST_ACTIVE = _Word(6)  # position of the warp that was activated last
WANTED_PIPES = _Word(7)  # pipes of the heads of ready warps
WANTS = _Word(8)  # + pipe: ready warps whose head uses it
UNITS_FOR = Column[SchedulerRow, UnitsRow](8 + len(PIPES))  # + pipe: units that execute its instructions
GROUP_FOR = Column[SchedulerRow, GroupRow](8 + 2 * len(PIPES))  # + pipe: collectors of its instructions
COLLECTOR_FULL = _Word(8 + 3 * len(PIPES))  # warps whose collector is full, if warps own collectors
ALLOCATED = _Word(9 + 3 * len(PIPES))  # with a read window: cycle in which the last instruction allocated its reads
ISSUES_FROM = _Word(10 + 3 * len(PIPES))  # with a read window: first cycle in which the stage after issue is free
STREAM_BEGIN = _Word(11 + 3 * len(PIPES))  # first line of code in its stream buffer
STREAM_END = _Word(12 + 3 * len(PIPES))  # the line behind the last one
ACCOUNT = 40  # first word of its stall account, which begins a cache line of the host
