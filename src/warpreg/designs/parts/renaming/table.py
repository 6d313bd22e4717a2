"""The renaming table: the physical register and the slices of each register of a warp (thesis §2.4.3, §2.6).

A state that uses it has these fields besides those of `free_map`.  Kernel-wide: ``kept_left`` and ``kept_right`` [mask,
bytes], the slices of a value that shrinks (`shrunk`).  Per warp: ``table`` [register], the entry (``position * 16 +
mask``, UNMAPPED without a value); ``pending`` [register], sources that have issued and that the collector has not read
yet; ``dying`` [register], whether the value is dead once these are read; ``superseded`` [register], the first of its
places that only pending sources still need; ``marks`` [register], see `packed_pairs`.  Per SM: ``next_place`` and
``place_mask`` [position * 4 + lowest slice], chains of superseded places; ``places`` [1], how many there are;
``resident`` [0], the registers of its warps.

A source reads where its register was when it issued.  If a result of the register is ready before that, it gets another
place, and the old one is free when no source of the register is pending any more.  Such places need room beyond one
physical register for each register of the resident warps; without it the result is written in place, as a plain
register file always does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.parts.renaming.free_map import give, take
from warpreg.designs.parts.renaming.slices import WHOLE, int64, size_of

UNMAPPED = 0
NO_PLACE = -1
MASK_BITS = 4
MASK = 15
MOST = (1 << 28) - 1
"""Of positions; compiled code then knows that they are not negative, and indexes with them directly."""


def entry_of(position: int, mask: int) -> int:
    """The table's entry for a value in these slices of a physical register."""
    return position << MASK_BITS | mask


def position_of(entry: int) -> int:
    """The physical register of an entry."""
    return entry >> MASK_BITS & MOST


def mask_of(entry: int) -> int:
    """The slices of an entry."""
    return entry & MASK


def empty_table(registers: int) -> dict[str, NDArray[Any]]:
    """The initial rows of a warp, by field."""
    return {
        "table": np.full(registers, UNMAPPED, np.uint32),
        "pending": np.zeros(registers, np.int32),
        "dying": np.zeros(registers, np.uint8),
        "superseded": np.full(registers, NO_PLACE, np.int32),
        "marks": np.zeros(registers, np.uint8),
    }


def no_places(positions: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field."""
    return {
        "next_place": np.full(positions * WHOLE, NO_PLACE, np.int32),
        "place_mask": np.zeros(positions * WHOLE, np.uint8),
        "places": np.zeros(1, np.int64),
    }


def stays(state: Any, sm: int, warp: int, register: int, size: int, is_timed: bool = True) -> bool:
    """Whether a result of so many bytes is written where its register is: it fits, and no pending source loses its
    value for which another place could be kept.
    """
    entry = int64(state.table[warp, register])
    if entry == UNMAPPED or size > size_of(mask_of(entry)):
        return False
    return not is_timed or state.pending[warp, register] == 0 or not has_room(state, sm)


def has_room(state: Any, sm: int) -> bool:
    """Whether another superseded place leaves a physical register for each register of the resident warps."""
    return bool(state.places[sm, 0] + state.resident[sm, 0] < state.free.shape[1])


def shrink(state: Any, sm: int, warp: int, register: int, size: int, left: bool) -> None:
    """A value stays in place and gives back the slices that it no longer needs."""
    entry = int64(state.table[warp, register])
    mask = mask_of(entry)
    kept = int64(state.kept_left[mask, size] if left else state.kept_right[mask, size])
    if kept != mask:
        give(state, sm, position_of(entry), mask & ~kept)
        state.table[warp, register] = entry_of(position_of(entry), kept)


def place(state: Any, sm: int, warp: int, register: int, entry: int, is_timed: bool = True) -> None:
    """A register gets a new place; its old one is free, at once or when the pending sources have been read."""
    take(state, sm, position_of(entry), mask_of(entry))
    old = int64(state.table[warp, register])
    if old != UNMAPPED:
        if is_timed and state.pending[warp, register] and has_room(state, sm):
            _supersede(state, sm, warp, register, old)
        else:
            give(state, sm, position_of(old), mask_of(old))
    state.table[warp, register] = entry
    if is_timed:
        state.dying[warp, register] = 0


def release(state: Any, sm: int, warp: int, register: int) -> None:
    """The value of a register is dead or moves: its slices are free."""
    entry = int64(state.table[warp, register])
    if entry != UNMAPPED:
        give(state, sm, position_of(entry), mask_of(entry))
        state.table[warp, register] = UNMAPPED
    state.dying[warp, register] = 0


def issue_source(state: Any, warp: int, register: int, is_last: bool) -> None:
    """An instruction that reads the register has issued; with ``is_last`` nothing reads the value afterwards."""
    state.pending[warp, register] += 1
    if is_last:
        state.dying[warp, register] = 1


def collect_source(state: Any, sm: int, warp: int, register: int) -> bool:
    """The collector has read a source; returns whether the register's value was released as dead."""
    state.pending[warp, register] -= 1
    if state.pending[warp, register] != 0:
        return False
    if state.superseded[warp, register] != NO_PLACE:
        give_superseded(state, sm, warp, register)
    if state.dying[warp, register] == 0:
        return False
    had_place: bool = state.table[warp, register] != UNMAPPED
    release(state, sm, warp, register)
    return had_place


def kill(state: Any, sm: int, warp: int, register: int, is_timed: bool = True) -> bool:
    """A register is dead from here on; returns whether its value was released (pending sources delay that)."""
    entry = int64(state.table[warp, register])
    if entry == UNMAPPED:
        return False
    if is_timed:
        if state.pending[warp, register]:
            state.dying[warp, register] = 1
            return False
        state.dying[warp, register] = 0
    give(state, sm, position_of(entry), mask_of(entry))
    state.table[warp, register] = UNMAPPED
    return True


def end_warp(state: Any, sm: int, warp: int) -> None:
    """A warp has ended: all its slices are free.  Nothing is pending or superseded, as all its sources are read."""
    for register in range(state.table.shape[1]):
        entry = int64(state.table[warp, register])
        if entry != UNMAPPED:
            give(state, sm, position_of(entry), mask_of(entry))
            state.table[warp, register] = UNMAPPED
        state.marks[warp, register] = 0


def _supersede(state: Any, sm: int, warp: int, register: int, entry: int) -> None:
    mask = mask_of(entry)
    lowest = 0
    while mask >> lowest & 1 == 0:
        lowest += 1
    at = position_of(entry) * WHOLE + lowest
    state.place_mask[sm, at] = mask
    state.next_place[sm, at] = state.superseded[warp, register]
    state.superseded[warp, register] = at
    state.places[sm, 0] += 1


def give_superseded(state: Any, sm: int, warp: int, register: int) -> None:
    """All superseded places of a register are free."""
    at = int64(state.superseded[warp, register])
    while at != NO_PLACE:
        give(state, sm, at // WHOLE, int64(state.place_mask[sm, at]))
        state.places[sm, 0] -= 1
        at = int64(state.next_place[sm, at])
    state.superseded[warp, register] = NO_PLACE
