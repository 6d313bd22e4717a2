"""Sets of the caches."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

CacheSets = NewType("CacheSets", int)
_Word = Column[CacheSets, int]

OLDEST = _Word(0)  # oldest line
NEWEST = _Word(1)
USED = _Word(2)  # number of its lines that were ever used
COUNT = 4  # a multiple or a fraction of a cache line of the host
