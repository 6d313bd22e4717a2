"""What DRAM has transferred in each of the last RING cycles.

Memory is stepped ahead of SMs, also beyond the end of a launch, by a number of cycles that depends on its threads.
What DRAM does after the last cycle of the launch does not count.
"""

from __future__ import annotations

import numpy as np

from warpreg.timing.core.typed import array_of
from warpreg.timing.memory.layout import RING, Memory
from warpreg.timing.memory.memory_columns import counts

CYCLE, FIRST = 0, 1
COUNTED = (int(counts.DRAM_READS), int(counts.DRAM_WRITES), int(counts.DRAM_BURSTS), int(counts.ROWS_OPENED))
ROW_WORDS = 8
"""A cache line of the host."""


def note(memory: Memory, now: int, reads: int, writes: int, bursts: int, rows: int) -> None:
    """Add sectors, bursts and opened rows to those of cycle ``now``."""
    row = now & (RING - 1)
    if memory.late[row, CYCLE] != now:
        memory.late[row, CYCLE] = now
        for column in range(FIRST, FIRST + 4):
            memory.late[row, column] = 0
    memory.late[row, FIRST] += reads
    memory.late[row, FIRST + 1] += writes
    memory.late[row, FIRST + 2] += bursts
    memory.late[row, FIRST + 3] += rows


def drop_after(memory: Memory, last: int) -> None:
    """Take what DRAM has done after the cycle ``last`` out of the counters."""
    late = memory.late[memory.late[:, CYCLE] > last, FIRST : FIRST + len(COUNTED)].sum(axis=0)
    array_of(memory.counts)[0, list(COUNTED)] -= late.astype(np.int64)
