"""Sets of slices and of SMs, so that a cycle looks only at those with something in their queues.

A set has as many words as the larger number of slices and SMs needs.
"""

from __future__ import annotations

from warpreg.timing.core.bitset import bit
from warpreg.timing.core.typed import SET_SIZE
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import parameters

SERVING, REPLYING, SENDING, OFFERED, KINDS = range(5)
"""Slices with requests, slices with replies, SMs with requests, and those with an offer in this cycle."""


def members(memory: Memory, kind: int, word: int) -> int:
    """A word of a set: member ``i`` of it is slice or SM ``word * SET_SIZE + i``."""
    return memory.sets[kind * memory.parameters[parameters.SET_WORDS] + word]


def add(memory: Memory, kind: int, member: int) -> None:
    """Add a slice or an SM."""
    memory.sets[kind * memory.parameters[parameters.SET_WORDS] + member // SET_SIZE] |= bit(member % SET_SIZE)


def remove(memory: Memory, kind: int, member: int) -> None:
    """Remove a slice or an SM."""
    memory.sets[kind * memory.parameters[parameters.SET_WORDS] + member // SET_SIZE] &= ~bit(member % SET_SIZE)


def clear(memory: Memory, kind: int) -> None:
    """Remove all."""
    for word in range(memory.parameters[parameters.SET_WORDS]):
        memory.sets[kind * memory.parameters[parameters.SET_WORDS] + word] = 0


def is_empty(memory: Memory, kind: int) -> bool:
    """Whether a set has no members."""
    found = 0
    for word in range(memory.parameters[parameters.SET_WORDS]):
        found |= members(memory, kind, word)
    return found == 0
