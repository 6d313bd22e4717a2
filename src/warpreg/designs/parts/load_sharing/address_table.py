"""The address mapping table of an SM: which physical register holds what a global load has read (thesis §5.5.2).

An entry is the address of lane 0, the stride, the mask of active lanes and a physical register.  A physical register
has one entry at most, which is therefore kept in the register's row.  Entries leave in the order in which they came
(§5.4), when a store overlaps them, and with their register.

A state that uses it has these fields.  ``entries``: the size of the table; ``hides_pending``: whether an entry is found
only once its data are in the register.  Per SM, with the columns of `columns`:
``physical`` [register], ``own``, ``hashed`` [BUCKETS + LINE_COUNTS]: the first entry of each bucket, and how many
entries have a word in the lines of 128 bytes of each hash; ``addresses`` [lane], scratch of the store that is checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.noinline import noinline
from warpreg.designs.parts.load_sharing.columns import (
    BASE,
    CHAIN,
    COUNT,
    LANES,
    NONE,
    OLDER,
    OLDEST,
    STRIDE,
    UNDER_WAY,
    YOUNGER,
    YOUNGEST,
)

THREADS = 32
WORD_BYTES = 4
LINE_SHIFT = 7
MAX_STRIDE = 255 * WORD_BYTES
"""The 8 bits of a stride count words, as strides are multiples of four from 0 to 512 (§5.6.4)."""
BUCKETS = 1024
LINE_COUNTS = 4096


def empty_entries() -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field, except for those that `registers` has too."""
    hashed = np.zeros(BUCKETS + LINE_COUNTS, np.int64)
    hashed[:BUCKETS] = NONE
    return {"hashed": hashed, "addresses": np.zeros(THREADS, np.int64)}


def is_regular(base: int, stride: int) -> bool:
    """Whether an entry can describe the addresses."""
    return 0 <= stride <= MAX_STRIDE and stride % WORD_BYTES == 0 and base % WORD_BYTES == 0


def find(state: Any, sm: int, base: int, stride: int, lanes: int) -> int:
    """The physical register with these words in at least these lanes; NONE without."""
    register = first_at(state, sm, base, stride)
    while register != NONE and lanes & ~found_lanes(state, sm, register) != 0:
        register = next_at(state, sm, register)
    return register


def found_lanes(state: Any, sm: int, register: int) -> int:
    """The lanes of an entry that a load can find."""
    hidden = state.hides_pending and state.physical[sm, register, UNDER_WAY] != 0
    return 0 if hidden else int(state.physical[sm, register, LANES])


def first_at(state: Any, sm: int, base: int, stride: int) -> int:
    """The youngest entry with this base and stride; NONE without.  Several differ in their lanes."""
    return _match(state, sm, state.hashed[sm, _bucket(base, stride)], base, stride)


def next_at(state: Any, sm: int, register: int) -> int:
    """The next older entry with the base and stride of this one; NONE without."""
    base, stride = state.physical[sm, register, BASE], state.physical[sm, register, STRIDE]
    return _match(state, sm, state.physical[sm, register, CHAIN], base, stride)


def _match(state: Any, sm: int, register: int, base: int, stride: int) -> int:
    while register != NONE and (
        state.physical[sm, register, BASE] != base or state.physical[sm, register, STRIDE] != stride
    ):
        register = state.physical[sm, register, CHAIN]
    return register


@noinline
def insert(state: Any, sm: int, register: int, base: int, stride: int, lanes: int) -> bool:
    """Enter a register that has no entry; returns whether the oldest entry had to leave."""
    is_full: bool = state.own[sm, COUNT] >= state.entries
    if is_full:
        remove(state, sm, state.own[sm, OLDEST])
    state.physical[sm, register, BASE] = base
    state.physical[sm, register, STRIDE] = stride
    state.physical[sm, register, LANES] = lanes
    bucket = _bucket(base, stride)
    state.physical[sm, register, CHAIN] = state.hashed[sm, bucket]
    state.hashed[sm, bucket] = register
    youngest = state.own[sm, YOUNGEST]
    state.physical[sm, register, OLDER] = youngest
    state.physical[sm, register, YOUNGER] = NONE
    if youngest == NONE:
        state.own[sm, OLDEST] = register
    else:
        state.physical[sm, youngest, YOUNGER] = register
    state.own[sm, YOUNGEST] = register
    state.own[sm, COUNT] += 1
    _count_lines(state, sm, register, 1)
    return is_full


@noinline
def remove(state: Any, sm: int, register: int) -> bool:
    """Delete the entry of a register, if it has one; returns whether it had."""
    if state.physical[sm, register, LANES] == 0:
        return False
    _count_lines(state, sm, register, -1)
    state.physical[sm, register, LANES] = 0
    _unchain(state, sm, register)
    older, younger = state.physical[sm, register, OLDER], state.physical[sm, register, YOUNGER]
    if older == NONE:
        state.own[sm, OLDEST] = younger
    else:
        state.physical[sm, older, YOUNGER] = younger
    if younger == NONE:
        state.own[sm, YOUNGEST] = older
    else:
        state.physical[sm, younger, OLDER] = older
    state.own[sm, COUNT] -= 1
    return True


@noinline
def remove_all(state: Any, sm: int) -> int:
    """Delete all entries; returns how many there were."""
    found: int = state.own[sm, COUNT]
    while state.own[sm, COUNT] != 0:
        remove(state, sm, state.own[sm, OLDEST])
    return found


@noinline
def remove_overlapping(state: Any, sm: int, lanes: int, size: int) -> int:
    """Delete the entries of which a store changes a byte; returns how many.

    The store writes ``size`` bytes at ``addresses`` of each of these lanes.
    """
    if not _may_overlap(state, sm, lanes, size):
        return 0
    removed = 0
    register: int = state.own[sm, OLDEST]
    while register != NONE:
        younger: int = state.physical[sm, register, YOUNGER]
        for lane in range(THREADS):
            if lanes >> lane & 1 and _overlaps(state, sm, register, state.addresses[sm, lane], size):
                remove(state, sm, register)
                removed += 1
                break
        register = younger
    return removed


def _may_overlap(state: Any, sm: int, lanes: int, size: int) -> bool:
    """Whether an entry may have a word in a line that a store writes."""
    overlaps = False
    for lane in range(THREADS):
        if lanes >> lane & 1:
            first = state.addresses[sm, lane]
            overlaps |= has_line(state, sm, first) or has_line(state, sm, first + size - 1)
    return overlaps


def has_line(state: Any, sm: int, address: int) -> bool:
    """Whether an entry may have a word in the line of an address."""
    return bool(state.hashed[sm, BUCKETS + (address >> LINE_SHIFT & LINE_COUNTS - 1)] != 0)


def _overlaps(state: Any, sm: int, register: int, address: int, size: int) -> bool:
    """Whether an entry has a word of which a byte is among ``size`` bytes at an address."""
    base, stride, lanes = (
        state.physical[sm, register, BASE],
        state.physical[sm, register, STRIDE],
        state.physical[sm, register, LANES],
    )
    if stride == 0:
        return bool(base < address + size and address < base + WORD_BYTES)
    first = max(0, (address - WORD_BYTES - base) // stride + 1)
    last = min(THREADS - 1, (address + size - 1 - base) // stride)
    return bool(last >= first and lanes >> first & (2 << last - first) - 1 != 0)


def _bucket(base: int, stride: int) -> int:
    return (base >> 2 ^ base >> LINE_SHIFT ^ base >> 13 ^ stride) & BUCKETS - 1


def _unchain(state: Any, sm: int, register: int) -> None:
    bucket = _bucket(state.physical[sm, register, BASE], state.physical[sm, register, STRIDE])
    one: int = state.hashed[sm, bucket]
    if one == register:
        state.hashed[sm, bucket] = state.physical[sm, register, CHAIN]
        return
    while state.physical[sm, one, CHAIN] != register:
        one = state.physical[sm, one, CHAIN]
    state.physical[sm, one, CHAIN] = state.physical[sm, register, CHAIN]


def _count_lines(state: Any, sm: int, register: int, more: int) -> None:
    """An entry comes or goes: count it in the lines of its words, each once."""
    base, stride, lanes = (
        state.physical[sm, register, BASE],
        state.physical[sm, register, STRIDE],
        state.physical[sm, register, LANES],
    )
    line = NONE
    for lane in range(THREADS):
        if lanes >> lane & 1:
            own = base + lane * stride >> LINE_SHIFT
            if own != line:
                state.hashed[sm, BUCKETS + (own & LINE_COUNTS - 1)] += more
                line = own
