"""Lines of the caches; int32."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

CacheLines = NewType("CacheLines", int)
_Word = Column[CacheLines, int]

TAG = _Word(0)  # lower bits of the line number
BITS = _Word(1)  # sectors valid | pending << PENDING_SHIFT | dirty << DIRTY_SHIFT | nodes in CHAIN << CHAINED_SHIFT
CHAIN = _Word(2)  # first of the nodes that wait for it
HASH_NEXT = _Word(3)  # next line in its bucket, plus one
OLDER = _Word(4)  # next older line of its set
NEWER = _Word(5)
SET = _Word(6)
TAG_ABOVE = _Word(7)  # upper bits of the line number
COUNT = 8

VALID, PENDING, DIRTY = 15, 15 << 4, 15 << 8
PENDING_SHIFT, DIRTY_SHIFT, CHAINED_SHIFT = 4, 8, 12
