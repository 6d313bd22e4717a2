"""A physical warp-register is four slices of one byte a lane; a mask has a bit for each, the least significant lowest.

A value of ``size`` bytes occupies as many slices; its lowest byte is in the lowest of them.
"""

from __future__ import annotations

FULL = 0b1111
WHOLE = 4
"""Slices of a physical register, and the bytes of a value that is not narrow."""

_SIZES = 0x4332322132212110
_LONGEST = 0x4322211132112110
"""Four bits for each mask, that of mask 0 lowest."""


def size_of(mask: int) -> int:
    """Number of slices in a mask."""
    return _SIZES >> 4 * mask & 7


def longest_run(mask: int) -> int:
    """Largest number of adjacent slices in a mask."""
    return _LONGEST >> 4 * mask & 7


def right_slices(size: int) -> int:
    """The least significant slices."""
    return (1 << size) - 1


def left_slices(size: int) -> int:
    """The most significant slices."""
    return FULL & FULL << WHOLE - size


def lowest_slices(free: int, size: int, adjacent: bool) -> int:
    """The lowest ``size`` of the free slices, next to each other if ``adjacent``; there must be as many."""
    if not adjacent:
        return shrunk(free, size, False)
    mask = right_slices(size)
    while mask & ~free:
        mask <<= 1
    return mask


def shrunk(mask: int, size: int, left: bool) -> int:
    """The slices that a narrower value keeps of its own: the most significant ones if it is left-aligned."""
    drop = 1 if left else 1 << WHOLE - 1
    while size_of(mask) > size:
        mask &= ~drop
        drop = drop << 1 if left else drop >> 1
    return mask
