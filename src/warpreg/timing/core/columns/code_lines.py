"""Lines of code and constants in the caches of an SM: a row for each line that the kernel names, in each cache."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, LineRow

_Word = Column[LineRow, int]

THERE_FROM = _Word(0)  # first cycle in which the cache has the line; 0 if it neither has nor expects it
USED = _Word(1)  # when it was used last, in uses of the SM's caches
STREAMED = _Word(2)  # first cycle in which the stream buffer has it, if it is there
COUNT = 4
"""Words of a row, a power of two."""
