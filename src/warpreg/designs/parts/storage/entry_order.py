"""The entries of a small cache from oldest to youngest, in one 64-bit word: four bits each, the oldest lowest.

Moving one entry takes a few operations and no loop, which is critical for the speed of replay.  For 1 to 16 entries.
"""

from __future__ import annotations

import numpy as np

ONE = np.uint64(1)
FOUR = np.uint64(4)
LOW_BITS = np.uint64(0x1111111111111111)
ENTRY = np.uint64(15)
IN_ORDER = np.uint64(0xFEDCBA9876543210)
"""Entry 0 is the oldest."""


def oldest(order: np.uint64) -> np.int64:
    """The oldest entry."""
    return np.int64(order & ENTRY)


def next_older(order: np.uint64) -> np.uint64:
    """The order without its oldest entry."""
    return order >> FOUR


def make_youngest(order: np.uint64, entry: int | np.int64, entries: int) -> np.uint64:
    """The order with an entry moved to the end."""
    moved = np.uint64(entry)
    before = _place(order, moved, entries) - ONE
    last = FOUR * np.uint64(entries - 1)
    shifted = (order >> FOUR) & ~before & ((ONE << last) - ONE)
    return (order & before) | shifted | (moved << last)


def make_oldest_youngest(order: np.uint64, entries: int) -> np.uint64:
    """The order with its oldest entry moved to the end."""
    last = FOUR * np.uint64(entries - 1)
    return ((order >> FOUR) & ((ONE << last) - ONE)) | ((order & ENTRY) << last)


def make_oldest(order: np.uint64, entry: int | np.int64, entries: int) -> np.uint64:
    """The order with an entry moved to the front."""
    moved = np.uint64(entry)
    place = _place(order, moved, entries)
    before = place - ONE
    after = ~(before | (place * ENTRY))
    return (order & after) | ((order & before) << FOUR) | moved


def _place(order: np.uint64, entry: np.uint64, entries: int) -> np.uint64:
    """The lowest bit of the four that hold an entry."""
    other = order ^ (entry * LOW_BITS)
    other |= other >> ONE
    other |= other >> np.uint64(2)
    used = ~np.uint64(0) >> (np.uint64(64) - FOUR * np.uint64(entries))
    return ~other & LOW_BITS & used
