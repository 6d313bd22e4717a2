"""The address mapping table of an SM: which physical register holds what a global load has read (thesis §5.5.2).

An entry is the address of lane 0, the stride, the mask of active lanes and a physical register.  A physical register
has one entry at most, which is therefore kept in the register's row.  Entries leave in the order in which they came
(§5.4), when a store overlaps them, and with their register.

A state that uses it has these fields.  Kernel-wide: ``entries``, the size of the table.  Per SM and physical register:
``base``, ``stride`` and ``lanes`` (0: no entry); ``older`` and ``younger``, the neighbours in order of age, ``chain``,
the next entry of its bucket (NONE at the ends).  Per SM: ``ends`` [OLDEST, YOUNGEST, COUNT]; ``buckets`` [hash], the
first entry; ``lines`` [hash], how many entries have a word in a line of 128 bytes; ``addresses`` [lane], scratch of the
store that is checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.jit.noinline import noinline

NONE = -1
OLDEST, YOUNGEST, COUNT = range(3)
LANES = 32
WORD_BYTES = 4
LINE_SHIFT = 7
LINE_BYTES = 1 << LINE_SHIFT
MOST_STRIDE = 255 * WORD_BYTES
"""The 8 bits of a stride count words, as strides are multiples of four from 0 to 512 (§5.6.4)."""
BUCKETS = 1024
LINES = 4096


def empty_entries(physical: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM with so many physical registers, by field."""
    of_register = {name: np.full(physical, NONE, np.int64) for name in ("older", "younger", "chain")}
    return {
        "base": np.zeros(physical, np.int64),
        "stride": np.zeros(physical, np.int64),
        "lanes": np.zeros(physical, np.int64),
        "ends": np.array([NONE, NONE, 0], np.int64),
        "buckets": np.full(BUCKETS, NONE, np.int64),
        "lines": np.zeros(LINES, np.int64),
        "addresses": np.zeros(LANES, np.int64),
        **of_register,
    }


def is_regular(base: int, stride: int) -> bool:
    """Whether an entry can describe the addresses."""
    return 0 <= stride <= MOST_STRIDE and stride % WORD_BYTES == 0 and base % WORD_BYTES == 0


def find(state: Any, sm: int, base: int, stride: int, lanes: int) -> int:
    """The physical register with these words in at least these lanes; NONE without."""
    register = first_at(state, sm, base, stride)
    while register != NONE and lanes & ~state.lanes[sm, register] != 0:
        register = next_at(state, sm, register)
    return register


def first_at(state: Any, sm: int, base: int, stride: int) -> int:
    """The youngest entry with this base and stride; NONE without.  Several differ in their lanes."""
    return _match(state, sm, state.buckets[sm, _bucket(base, stride)], base, stride)


def next_at(state: Any, sm: int, register: int) -> int:
    """The next older entry with the base and stride of this one; NONE without."""
    base, stride = state.base[sm, register], state.stride[sm, register]
    return _match(state, sm, state.chain[sm, register], base, stride)


def _match(state: Any, sm: int, register: int, base: int, stride: int) -> int:
    while register != NONE and (state.base[sm, register] != base or state.stride[sm, register] != stride):
        register = state.chain[sm, register]
    return register


@noinline
def insert(state: Any, sm: int, register: int, base: int, stride: int, lanes: int) -> bool:
    """Enter a register that has no entry; returns whether the oldest entry had to leave."""
    is_full: bool = state.ends[sm, COUNT] >= state.entries
    if is_full:
        remove(state, sm, state.ends[sm, OLDEST])
    state.base[sm, register], state.stride[sm, register], state.lanes[sm, register] = base, stride, lanes
    bucket = _bucket(base, stride)
    state.chain[sm, register] = state.buckets[sm, bucket]
    state.buckets[sm, bucket] = register
    youngest = state.ends[sm, YOUNGEST]
    state.older[sm, register] = youngest
    state.younger[sm, register] = NONE
    if youngest == NONE:
        state.ends[sm, OLDEST] = register
    else:
        state.younger[sm, youngest] = register
    state.ends[sm, YOUNGEST] = register
    state.ends[sm, COUNT] += 1
    _count_lines(state, sm, register, 1)
    return is_full


@noinline
def remove(state: Any, sm: int, register: int) -> bool:
    """Delete the entry of a register, if it has one; returns whether it had."""
    if state.lanes[sm, register] == 0:
        return False
    _count_lines(state, sm, register, -1)
    state.lanes[sm, register] = 0
    _unchain(state, sm, register)
    older, younger = state.older[sm, register], state.younger[sm, register]
    if older == NONE:
        state.ends[sm, OLDEST] = younger
    else:
        state.younger[sm, older] = younger
    if younger == NONE:
        state.ends[sm, YOUNGEST] = older
    else:
        state.older[sm, younger] = older
    state.ends[sm, COUNT] -= 1
    return True


@noinline
def remove_all(state: Any, sm: int) -> int:
    """Delete all entries; returns how many there were."""
    found: int = state.ends[sm, COUNT]
    while state.ends[sm, COUNT] != 0:
        remove(state, sm, state.ends[sm, OLDEST])
    return found


@noinline
def remove_overlapping(state: Any, sm: int, lanes: int, size: int) -> int:
    """Delete the entries of which a store changes a byte; returns how many.

    The store writes ``size`` bytes at ``addresses`` of each of these lanes.
    """
    if not _may_overlap(state, sm, lanes, size):
        return 0
    found = 0
    register: int = state.ends[sm, OLDEST]
    while register != NONE:
        younger: int = state.younger[sm, register]
        for lane in range(LANES):
            if lanes >> lane & 1 and _overlaps(state, sm, register, state.addresses[sm, lane], size):
                remove(state, sm, register)
                found += 1
                break
        register = younger
    return found


def _may_overlap(state: Any, sm: int, lanes: int, size: int) -> bool:
    """Whether an entry may have a word in a line that a store writes."""
    found = False
    for lane in range(LANES):
        if lanes >> lane & 1:
            first = state.addresses[sm, lane]
            found |= has_line(state, sm, first) or has_line(state, sm, first + size - 1)
    return found


def has_line(state: Any, sm: int, address: int) -> bool:
    """Whether an entry may have a word in the line of an address."""
    return bool(state.lines[sm, address >> LINE_SHIFT & LINES - 1] != 0)


def _overlaps(state: Any, sm: int, register: int, address: int, size: int) -> bool:
    """Whether an entry has a word of which a byte is among ``size`` bytes at an address."""
    base, stride, lanes = state.base[sm, register], state.stride[sm, register], state.lanes[sm, register]
    if stride == 0:
        return bool(base < address + size and address < base + WORD_BYTES)
    first = max(0, (address - WORD_BYTES - base) // stride + 1)
    last = min(LANES - 1, (address + size - 1 - base) // stride)
    return bool(last >= first and lanes >> first & (2 << last - first) - 1 != 0)


def _bucket(base: int, stride: int) -> int:
    return (base >> 2 ^ base >> LINE_SHIFT ^ base >> 13 ^ stride) & BUCKETS - 1


def _unchain(state: Any, sm: int, register: int) -> None:
    bucket = _bucket(state.base[sm, register], state.stride[sm, register])
    one: int = state.buckets[sm, bucket]
    if one == register:
        state.buckets[sm, bucket] = state.chain[sm, register]
        return
    while state.chain[sm, one] != register:
        one = state.chain[sm, one]
    state.chain[sm, one] = state.chain[sm, register]


def _count_lines(state: Any, sm: int, register: int, more: int) -> None:
    """An entry comes or goes: count it in the lines of its words, each once."""
    base, stride, lanes = state.base[sm, register], state.stride[sm, register], state.lanes[sm, register]
    line = NONE
    for lane in range(LANES):
        if lanes >> lane & 1:
            own = base + lane * stride >> LINE_SHIFT
            if own != line:
                state.lines[sm, own & LINES - 1] += more
                line = own
