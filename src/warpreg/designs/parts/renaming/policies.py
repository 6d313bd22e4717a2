"""Where a value goes: first fit (packing), beside its buddy (CORF, thesis §2.4.3), to its side (CORF++, §2.5.3).

Each function returns an entry of the table, or UNMAPPED if nothing is free; nothing is taken yet.  Kernel-wide, the
state has ``lowest`` [free slices, bytes], the slices that first fit takes of a position (`lowest_slices`), and
``own_first``, whether first fit looks at the positions of the warp's slot before all others.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.parts.affinity.alignment import ANY_SIDE, LEFT
from warpreg.designs.parts.affinity.pairs import NO_BUDDY
from warpreg.designs.parts.renaming.free_map import (
    HELD,
    LEFTMOST,
    NOWHERE,
    RIGHTMOST,
    first_end,
    first_position,
    set_free,
)
from warpreg.designs.parts.renaming.slices import (
    FULL,
    WHOLE,
    int64,
    left_slices,
    right_slices,
)
from warpreg.designs.parts.renaming.table import UNMAPPED, entry_of, mask_of, position_of


def first_fit(state: Any, sm: int, size: int, begin: int, end: int) -> int:
    """The lowest free slices of the first position that has enough of them."""
    position = first_position(state, sm, size, begin, end)
    if position == NOWHERE:
        return UNMAPPED
    return entry_of(position, int64(state.lowest[state.free[sm, position], size]))


def default_position(state: Any, sm: int, slot: int, size: int) -> int:
    """The first position with so many free slices: in all of the SM, or, if the state is ``own_first``, among as many
    positions as a warp has registers, those of its slot, before all others.
    """
    end = state.free.shape[1]
    last = (slot + 1) * state.table.shape[1]
    if state.own_first and last <= end:
        position = first_position(state, sm, size, last - state.table.shape[1], last)
        if position != NOWHERE:
            return position
    return first_position(state, sm, size, 0, end)


def default_fit(state: Any, sm: int, slot: int, size: int) -> int:
    """The lowest free slices of the default position."""
    position = default_position(state, sm, slot, size)
    if position == NOWHERE:
        return UNMAPPED
    return entry_of(position, int64(state.lowest[state.free[sm, position], size]))


def beside_buddy(state: Any, sm: int, warp: int, slot: int, buddy: int, size: int) -> int:
    """The buddy's position if the value fits there; an empty position if the buddy has none; else first fit."""
    if buddy == NO_BUDDY:
        return default_fit(state, sm, slot, size)
    other = int64(state.table[warp, buddy])
    if other == UNMAPPED:
        position = default_position(state, sm, slot, WHOLE)
        if position != NOWHERE:
            return entry_of(position, right_slices(size))
        return default_fit(state, sm, slot, size)
    position = position_of(other)
    mask = int64(state.lowest[state.free[sm, position] & FULL, size])
    if mask:
        return entry_of(position, mask)
    return default_fit(state, sm, slot, size)


def hold_for_buddy(state: Any, sm: int, warp: int, register: int, buddy: int) -> None:
    """A register of a pair has been placed: the slices beside it wait for its buddy, those of the buddy no longer for
    it.
    """
    entry, other = int64(state.table[warp, register]), int64(state.table[warp, buddy])
    position = position_of(entry)
    if other == UNMAPPED:
        free = int64(state.free[sm, position])
        alone = free | mask_of(entry) == FULL
        if alone and free != 0:
            set_free(state, sm, position, free | HELD)
    else:
        held = position_of(other)
        set_free(state, sm, held, int64(state.free[sm, held]) & FULL)


def to_its_side(state: Any, sm: int, side: int, size: int, begin: int, end: int) -> int:
    """The first position of a bank (``begin`` to ``end``) whose slices of that side are free; else first fit there,
    else in any bank.
    """
    if side != ANY_SIDE and size < WHOLE:
        left = side == LEFT
        position = first_end(state, sm, (LEFTMOST if left else RIGHTMOST) + size - 1, begin, end)
        if position != NOWHERE:
            return entry_of(position, left_slices(size) if left else right_slices(size))
    entry = first_fit(state, sm, size, begin, end)
    if entry == UNMAPPED:
        entry = first_fit(state, sm, size, 0, state.free.shape[1])
    return entry
