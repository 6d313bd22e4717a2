"""A physical warp-register is four slices of one byte a lane; a mask has a bit for each, the least significant lowest.

A value of ``size`` bytes occupies as many slices; its lowest byte is in the lowest of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

int64: Any = np.int64
"""Makes a stored number one that compiled code and plain Python calculate with in the same way."""
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
    """The lowest ``size`` of the free slices, next to each other if ``adjacent``; 0 if there are not as many."""
    masks = [
        mask
        for mask in range(1, FULL + 1)
        if size_of(mask) == size and not mask & ~free and (longest_run(mask) == size or not adjacent)
    ]
    return min(masks, key=_slice_numbers, default=0)


def shrunk(mask: int, size: int, left: bool) -> int:
    """The slices that a value of ``size`` bytes or less keeps of its own: the most significant ones if it is
    left-aligned.
    """
    slices = _slice_numbers(mask)
    kept = slices[-size:] if left else slices[:size]
    return sum(1 << one for one in kept)


def slice_table(function: Callable[[int, int, bool], int], flag: bool) -> NDArray[np.uint8]:
    """The values of one of the two functions by mask and size, uint8[16, 5]."""
    sizes = range(1, WHOLE + 1)
    return np.array([[0, *(function(mask, size, flag) for size in sizes)] for mask in range(FULL + 1)], np.uint8)


def _slice_numbers(mask: int) -> list[int]:
    return [one for one in range(WHOLE) if mask >> one & 1]
