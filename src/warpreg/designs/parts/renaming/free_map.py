"""Which slices of an SM's physical registers are free: four bits for each register (thesis §2.4.3, §2.8).

A state that uses it has these fields.  Kernel-wide: ``fitting`` [free slices], see `fitting_sizes`; ``fitting_sides``,
the same of `fitting_ends`, and ``has_sides``, whether these are kept.  Per SM: ``free`` [position], the free slices of
each physical register, with HELD if only a certain register may use them; ``fits`` [word], four bits for each of 16
positions, bit ``size`` - 1 set if so many slices are free there; ``sides`` [word], the same with eight bits for each of
8 positions; ``some`` [size - 1, group], a bit for each of 32 words of ``fits``, set if something of that size fits
there (and where nothing does any more, until a search finds out); ``in_use`` [1], physical registers with a slice that
is not free.  A position is the number of a physical register in the order in which first fit looks at them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.bits import lowest_bit
from warpreg.designs.parts.renaming.slices import FULL, WHOLE, int64, left_slices, longest_run, right_slices, size_of

HELD = 16
"""Flag of a position whose free slices are reserved."""
NOWHERE = -1
RIGHTMOST, LEFTMOST = 0, 3
"""First bit of the least, and of the most significant slices in ``fitting_sides``, for 1 to 3 of them."""
SIZES_SHIFT, SIDES_SHIFT = 4, 3
"""Positions of a word, as powers of two."""
SIZES_BITS, SIDES_BITS = 2, 3
"""Bits of a position, as powers of two."""
EACH_OF_16 = 0x1111111111111111
EACH_OF_8 = 0x0101010101010101
GROUP_SHIFT = 5
"""Words of a group, as a power of two."""
PLACE_IN_GROUP = (1 << GROUP_SHIFT) - 1


def fitting_sizes(adjacent: bool) -> NDArray[np.int64]:
    """For each value of ``free`` the sizes that fit, as bits; a value's slices may have to be ``adjacent``."""
    sizes = [longest_run(free) if adjacent else size_of(free) for free in range(HELD)]
    return np.array([(1 << size) - 1 for size in sizes] + [0] * HELD, np.int64)


def fitting_ends() -> NDArray[np.int64]:
    """For each value of ``free`` the numbers of slices that are free on each side, as bits."""
    ends = np.zeros(2 * HELD, np.int64)
    for free in range(HELD):
        for size in range(1, WHOLE):
            ends[free] |= (free & right_slices(size) == right_slices(size)) << RIGHTMOST + size - 1
            ends[free] |= (free & left_slices(size) == left_slices(size)) << LEFTMOST + size - 1
    return ends


def all_free(positions: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM with so many physical registers, by field."""
    fits = np.full(-(-positions >> SIZES_SHIFT), -1, np.int64)
    sides = np.full(-(-positions >> SIDES_SHIFT), -1, np.int64)
    for words, shift, bits in ((fits, SIZES_SHIFT, SIZES_BITS), (sides, SIDES_SHIFT, SIDES_BITS)):
        if rest := positions % (1 << shift):
            words[-1] = (1 << (rest << bits)) - 1
    return {
        "free": np.full(positions, FULL, np.uint8),
        "fits": fits,
        "sides": sides,
        "some": np.full((WHOLE, -(-fits.size >> GROUP_SHIFT)), (1 << (1 << GROUP_SHIFT)) - 1, np.int64),
        "in_use": np.zeros(1, np.int64),
    }


def first_position(state: Any, sm: int, size: int, begin: int, end: int) -> int:
    """The first position from ``begin`` on, before ``end``, with so many free slices; NOWHERE if there is none."""
    first, last = begin >> SIZES_SHIFT, end - 1 >> SIZES_SHIFT
    word = first
    while word <= last:
        group = word >> GROUP_SHIFT
        some = int64(state.some[sm, size - 1, group]) >> (word & PLACE_IN_GROUP)
        if some == 0:
            word = group + 1 << GROUP_SHIFT
            continue
        word += lowest_bit(some)
        if word > last:
            break
        bits = state.fits[sm, word] >> size - 1 & EACH_OF_16
        if bits == 0:
            state.some[sm, size - 1, group] &= ~(1 << (word & PLACE_IN_GROUP))
        if word == first:
            bits &= -1 << ((begin & (1 << SIZES_SHIFT) - 1) << SIZES_BITS)
        if bits:
            position = (word << SIZES_SHIFT) + (lowest_bit(bits) >> SIZES_BITS)
            return position if position < end else NOWHERE
        word += 1
    return NOWHERE


def first_end(state: Any, sm: int, bit: int, begin: int, end: int) -> int:
    """The first position in that range with free slices on one side: a ``bit`` of `fitting_ends`."""
    first, last = begin >> SIDES_SHIFT, end - 1 >> SIDES_SHIFT
    for word in range(first, last + 1):
        bits = state.sides[sm, word] >> bit & EACH_OF_8
        if word == first:
            bits &= -1 << ((begin & (1 << SIDES_SHIFT) - 1) << SIDES_BITS)
        if bits:
            position = (word << SIDES_SHIFT) + (lowest_bit(bits) >> SIDES_BITS)
            return position if position < end else NOWHERE
    return NOWHERE


def take(state: Any, sm: int, position: int, mask: int) -> None:
    """Slices of a position are no longer free."""
    set_free(state, sm, position, int64(state.free[sm, position]) & ~mask)


def give(state: Any, sm: int, position: int, mask: int) -> None:
    """Slices of a position are free again; an empty position is held for nobody."""
    free = int64(state.free[sm, position]) | mask
    set_free(state, sm, position, FULL if free & FULL == FULL else free)


def set_free(state: Any, sm: int, position: int, free: int) -> None:
    """Change what is free at a position, flag included (never set where everything is free)."""
    old = int64(state.free[sm, position])
    state.free[sm, position] = free
    if old == FULL and free != FULL:
        state.in_use[sm, 0] += 1
    elif old != FULL and free == FULL:
        state.in_use[sm, 0] -= 1
    word, place = position >> SIZES_SHIFT, (position & (1 << SIZES_SHIFT) - 1) << SIZES_BITS
    sizes = state.fitting[free]
    state.fits[sm, word] ^= (state.fitting[old] ^ sizes) << place
    if sizes > state.fitting[old]:
        for size in range(WHOLE):
            state.some[sm, size, word >> GROUP_SHIFT] |= (sizes >> size & 1) << (word & PLACE_IN_GROUP)
    if state.has_sides:
        place = (position & (1 << SIDES_SHIFT) - 1) << SIDES_BITS
        state.sides[sm, position >> SIDES_SHIFT] ^= (state.fitting_sides[old] ^ state.fitting_sides[free]) << place
