"""Which slices of an SM's physical registers are free: four bits for each register (thesis §2.4.3, §2.8).

A state that uses it has these fields.  Kernel-wide: ``fitting`` [free slices], see `fitting_rows`.  Per SM: ``free``
[position], the free slices of each physical register, with HELD if only a certain register may use them; ``fits`` [row,
word], a bit for each position, 1 if a value of that row's kind fits; ``in_use`` [1], physical registers with a slice
that is not free.  A position is the number of a physical register in the order in which first fit looks at them.

The rows make a search a scan over words of 32 positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.renaming.slices import FULL, WHOLE, left_slices, longest_run, right_slices, size_of

HELD = 16
"""Flag of a position whose free slices are reserved."""
NOWHERE = -1
ANYWHERE, LEFTMOST, RIGHTMOST = 0, 4, 7
"""First row of the kinds: ``size`` slices at any place (1 to 4), the most or the least significant ones (1 to 3)."""
ROWS = 10
BITS = 32
"""Positions of a word."""


def fitting_rows(adjacent: bool) -> NDArray[np.int64]:
    """For each value of ``free`` the rows that it fits, as bits; a value's slices may have to be ``adjacent``."""
    rows = np.zeros(2 * HELD, np.int64)
    for free in range(HELD):
        most = longest_run(free) if adjacent else size_of(free)
        rows[free] = (1 << most) - 1
        for size in range(1, WHOLE):
            rows[free] |= _has(free, left_slices(size)) << LEFTMOST + size - 1
            rows[free] |= _has(free, right_slices(size)) << RIGHTMOST + size - 1
    return rows


def all_free(positions: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM with so many physical registers, by field."""
    words = -(-positions // BITS)
    fits = np.full(words, (1 << BITS) - 1, np.int64)
    fits[-1] >>= words * BITS - positions
    return {
        "free": np.full(positions, FULL, np.int64),
        "fits": np.tile(fits, (ROWS, 1)),
        "in_use": np.zeros(1, np.int64),
    }


def first_position(state: Any, sm: int, row: int, begin: int, end: int) -> int:
    """The first position from ``begin`` on, before ``end``, that fits a row; NOWHERE if there is none."""
    word = begin // BITS
    bits = state.fits[sm, row, word] & -1 << begin % BITS
    while bits == 0:
        word += 1
        if word * BITS >= end:
            return NOWHERE
        bits = state.fits[sm, row, word]
    position = word * BITS + lowest_bit(bits)
    return position if position < end else NOWHERE


def take(state: Any, sm: int, position: int, mask: int) -> None:
    """Slices of a position are no longer free."""
    set_free(state, sm, position, state.free[sm, position] & ~mask)


def give(state: Any, sm: int, position: int, mask: int) -> None:
    """Slices of a position are free again; an empty position is held for nobody."""
    free = state.free[sm, position] | mask
    set_free(state, sm, position, FULL if free & FULL == FULL else free)


def set_free(state: Any, sm: int, position: int, free: int) -> None:
    """Change what is free at a position, flag included (never set where everything is free)."""
    old = state.free[sm, position]
    state.free[sm, position] = free
    if old == FULL and free != FULL:
        state.in_use[sm, 0] += 1
    elif old != FULL and free == FULL:
        state.in_use[sm, 0] -= 1
    changed = state.fitting[old] ^ state.fitting[free]
    row = 0
    while changed:
        if changed & 1:
            state.fits[sm, row, position // BITS] ^= 1 << position % BITS
        changed >>= 1
        row += 1


def lowest_bit(bits: int) -> int:
    """The number of the lowest of up to 32 bits, at least one of which is set."""
    place = 0
    if bits & 0xFFFF == 0:
        bits >>= 16
        place = 16
    if bits & 0xFF == 0:
        bits >>= 8
        place += 8
    if bits & 0xF == 0:
        bits >>= 4
        place += 4
    if bits & 3 == 0:
        bits >>= 2
        place += 2
    return place + (bits & 1 == 0)


def _has(free: int, mask: int) -> bool:
    return free & mask == mask
