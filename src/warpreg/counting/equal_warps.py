"""Rows of a piece with equal contents, found with a hash table of open addressing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 16_777_619
"""The prime of the 32-bit FNV hash."""
MASK = (1 << 32) - 1
EMPTY = -1


def count_equal(
    words: NDArray[np.uint32],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    widths: NDArray[np.uint8],
    width_starts: NDArray[np.int64],
    table: NDArray[np.int64],
    times: NDArray[np.int64],
) -> None:
    """Set ``times`` of the first row of each content to the number of rows that have it, of all others to 0.

    Row ``r`` contains ``words[starts[r]:stops[r]]`` and ``widths[width_starts[r]:width_starts[r + 1]]``.  ``table`` is
    full of EMPTY; its size is a power of two and more than the number of rows.  Rows without words have 0.
    """
    for row in range(starts.size):
        times[row] = 0
        if stops[row] <= starts[row]:
            continue
        place = _hash(words[starts[row] : stops[row]], widths[width_starts[row] : width_starts[row + 1]])
        place &= table.size - 1
        while table[place] != EMPTY and not _are_equal(words, starts, stops, widths, width_starts, table[place], row):
            place = (place + 1) & (table.size - 1)
        if table[place] == EMPTY:
            table[place] = row
        times[table[place]] += 1


def _hash(words: NDArray[np.uint32], widths: NDArray[np.uint8]) -> int:
    digest = np.int64(0)
    for word in words:
        digest = ((digest ^ np.int64(word)) * MULTIPLIER) & MASK
    for width in widths:
        digest = ((digest ^ np.int64(width)) * MULTIPLIER) & MASK
    return int(digest ^ (digest >> 15))


def _are_equal(
    words: NDArray[np.uint32],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    widths: NDArray[np.uint8],
    width_starts: NDArray[np.int64],
    one: int,
    other: int,
) -> bool:
    size, width_count = stops[one] - starts[one], width_starts[one + 1] - width_starts[one]
    if size != stops[other] - starts[other] or width_count != width_starts[other + 1] - width_starts[other]:
        return False
    for at in range(size):
        if words[starts[one] + at] != words[starts[other] + at]:
            return False
    at = 0
    while at < width_count and widths[width_starts[one] + at] == widths[width_starts[other] + at]:
        at += 1
    return bool(at == width_count)
