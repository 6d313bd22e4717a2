"""What the second-level cache holds between launches, and copies from the host that fill it.

A launch ends when its last warp ends, so at most reads from DRAM are under way that no warp waits for.  Their sectors
count as present for the next launch.  First-level caches start empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled
from warpreg.sass.listing import Copy
from warpreg.timing.core.access_record import LINE_BYTES
from warpreg.timing.core.typed import NONE, Array, array_of
from warpreg.timing.core.whole_columns import WholeColumns
from warpreg.timing.memory import second_level, tags
from warpreg.timing.memory.layout import FIXED, Memory
from warpreg.timing.memory.memory_columns import CacheLines, cache_lines, parameters, scalars

SECTOR_SHIFT = 5


class SecondLevel(NamedTuple):
    """Lines, sets and buckets of a `Memory` without requests under way; int32, int64 and int32."""

    lines: Array
    sets: Array
    buckets: Array


class SecondLevelState:
    """The second level between the launches of a run, one after another.

    ``copies`` fill it before the launch that they name, in order.
    """

    def __init__(self, copies: Sequence[Copy] = (), contents: SecondLevel | None = None, launches: int = 0) -> None:
        self.copies, self.launches = copies, launches
        self._contents = contents
        self._is_idle = True

    @property
    def contents(self) -> SecondLevel | None:
        """The contents without requests under way, which end when the contents are first needed."""
        if self._contents is not None and not self._is_idle:
            end_requests(self._contents)
            self._is_idle = True
        return self._contents

    @contents.setter
    def contents(self, idle: SecondLevel | None) -> None:
        self._contents, self._is_idle = idle, True

    def copy(self) -> SecondLevelState:
        """The same state, for timing a launch again."""
        return SecondLevelState(self.copies, self.contents, self.launches)

    def begin(self, memory: Memory, mode: Mode = "compiled") -> None:
        """Fill an idle memory system before the next launch."""
        if (contents := self.contents) is not None:
            put(memory, contents)
        for copy in self.copies:
            if copy.before == self.launches and memory.parameters[parameters.MODEL] != FIXED:
                arguments = memory, copy.address, copy.bytes
                run = copy_from_host if mode == "interpreted" else compiled(copy_from_host, arguments)
                run(*arguments)

    def end(self, memory: Memory) -> None:
        """Take over what a launch leaves, with the arrays of ``memory``."""
        self._contents = SecondLevel(array_of(memory.lines2), array_of(memory.sets2), array_of(memory.buckets2))
        self._is_idle = False
        self.launches += 1


def end_requests(contents: SecondLevel) -> None:
    """Make the sectors present that were under way at the end of a launch."""
    columns = WholeColumns[CacheLines](contents.lines)
    under_way = np.flatnonzero(columns[cache_lines.BITS] & cache_lines.PENDING)
    bits = columns[cache_lines.BITS][under_way]
    arrived = bits >> cache_lines.PENDING_SHIFT & cache_lines.VALID
    columns[cache_lines.BITS][under_way] = (bits | arrived) & (cache_lines.VALID | cache_lines.DIRTY)
    columns[cache_lines.CHAIN][under_way] = NONE


def put(memory: Memory, contents: SecondLevel) -> None:
    """Start an idle memory system of the same machine with a copy of these contents."""
    array_of(memory.lines2)[:] = contents.lines
    array_of(memory.sets2)[:] = contents.sets
    array_of(memory.buckets2)[:] = contents.buckets


def copy_from_host(memory: Memory, address: int, size: int) -> int:
    """Make the sectors of ``size`` bytes at ``address`` present and clean; in the numba subset of Python."""
    p = memory.parameters
    sector = address >> SECTOR_SHIFT
    while sector << SECTOR_SHIFT < address + size:
        line = sector << SECTOR_SHIFT & -LINE_BYTES
        which = second_level.slice_of(memory, line)
        slot = tags.find(memory.lines2, memory.buckets2, p[parameters.BUCKETS2], which, line)
        if slot == NONE:
            slot = second_level.allocate(memory, which, line)
        tags.touch(memory.lines2, memory.sets2, slot)
        memory.lines2[slot, cache_lines.BITS] |= 1 << (sector & 3)
        sector += 1
    memory.scalars[scalars.EVICTED] = 0
    return 0
