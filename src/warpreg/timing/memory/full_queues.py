"""Cycles in which the queues of slices were full: slices are stepped ahead of the requests that enter them.

A row for each cycle, used again after RING cycles, with the set of slices whose queues were full at its end.
"""

from __future__ import annotations

from warpreg.timing.core.bitset import bit
from warpreg.timing.core.typed import SET_SIZE
from warpreg.timing.memory.layout import RING, Memory
from warpreg.timing.memory.memory_columns import parameters


def _row(memory: Memory, now: int) -> int:
    return (now & (RING - 1)) * (1 + memory.parameters[parameters.SET_WORDS])


def note_full(memory: Memory, which: int, now: int) -> None:
    """The queue of a slice is full after what it has served in cycle ``now``."""
    row = _row(memory, now)
    if memory.full[row] != now:
        memory.full[row] = now
        for word in range(memory.parameters[parameters.SET_WORDS]):
            memory.full[row + 1 + word] = 0
    memory.full[row + 1 + which // SET_SIZE] |= bit(which % SET_SIZE)


def was_full(memory: Memory, which: int, now: int) -> bool:
    """Whether that was so in cycle ``now``, up to which slices have been stepped, and not RING cycles further."""
    row = _row(memory, now)
    return memory.full[row] == now and memory.full[row + 1 + which // SET_SIZE] & bit(which % SET_SIZE) != 0
