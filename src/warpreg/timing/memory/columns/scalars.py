"""Numbers of the whole memory system that change."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Scalars = NewType("Scalars", int)
_Word = Column[Scalars, int]

EVENTS = _Word(0)  # length of the heap of events
IN_DAYS = _Word(1)  # events that have a day
BEGIN = _Word(2)  # a cycle before which no event is or will be
FREE_NODE = _Word(3)  # first of the nodes that were given back, NONE without
FRESH_NODE = _Word(4)  # the first that nobody has taken yet
SEQUENCE = _Word(5)  # how many times anything was put into a heap or numbered
STEPPED = _Word(6)  # the cycle in which queues were stepped last
QUEUED = _Word(7)  # requests in queues
ASKED = _Word(8)  # left by the last look-up in the second level: sectors to ask of DRAM
EVICTED = _Word(9)  # dirty sectors that it threw out
EVICTED_LINE = _Word(10)  # their line
FOUND = _Word(11)  # the line that it found or took
WOKEN_ANY = _Word(12)  # whether any SM is woken
DRAM_AT = _Word(13)  # the cycle in which a DRAM controller may have something to do
COUNT = 14
