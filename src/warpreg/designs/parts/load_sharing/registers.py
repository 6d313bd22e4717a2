"""Renaming with counted references: several registers may be in one physical register (thesis §5.5.1, Figure 5.5).

A physical register is free when nothing refers to it any more: no register of a warp, no load under way, and no source
that has issued and that the collector has not read.  Its entry of the address mapping table goes with it.

A state that uses it has the fields of `address_table` and these.  Per warp ``registers`` [register], with the columns
of `columns`; per SM ``free`` [word], a bit for each physical register that is free, 32 of them each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.bits import lowest_bit, remainder
from piecewise_numba.noinline import noinline
from warpreg.designs.parts.load_sharing.address_table import remove
from warpreg.designs.parts.load_sharing.columns import (
    CHAIN,
    DYING,
    FORMER,
    FREE_NODE,
    FULL_WORDS,
    LANES,
    LINKS_LEFT,
    MAPPED,
    MOST,
    NEXT_FORMER,
    NONE,
    OLDER,
    OLDEST,
    OWN_COLUMNS,
    PENDING,
    PHYSICAL_COLUMNS,
    PLACE,
    REFERENCES,
    REGISTER_COLUMNS,
    SUPERSEDED,
    TAKEN,
    WAITERS,
    YOUNGER,
    YOUNGEST,
)
from warpreg.designs.parts.renaming.slices import int64

WORD_SHIFT = 5
WORD = 1 << WORD_SHIFT
LINKS_OF_REGISTER = 2
"""Links of loads that wait, for each physical register (`warpreg.designs.parts.load_sharing.waiting`)."""


def all_free(physical: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field, with columns for what else is kept of it."""
    free = np.full(-(-physical // WORD), (1 << WORD) - 1, np.int64)
    if rest := physical % WORD:
        free[-1] = (1 << rest) - 1
    rows = np.zeros((physical, PHYSICAL_COLUMNS), np.int64)
    rows[:, [OLDER, YOUNGER, CHAIN, WAITERS]] = NONE
    rows[:, NEXT_FORMER] = each_the_next(physical)
    own = np.zeros(OWN_COLUMNS, np.int64)
    own[[OLDEST, YOUNGEST]] = NONE
    own[LINKS_LEFT] = LINKS_OF_REGISTER * physical
    return {"physical": rows, "own": own, "free": free}


def unmapped(registers: int) -> dict[str, NDArray[Any]]:
    """The initial rows of a warp, by field."""
    rows = np.zeros((registers, REGISTER_COLUMNS), np.int32)
    rows[:, [PLACE, SUPERSEDED]] = NONE
    return {"registers": rows}


def each_the_next(count: int) -> NDArray[np.int64]:
    """A chain of rows."""
    following = np.arange(1, count + 1)
    following[-1] = NONE
    return following


@noinline
def take(state: Any, sm: int) -> int:
    """The lowest free physical register, with one reference; NONE if all are in use."""
    own, free = state.own[sm], state.free[sm]
    word: int = own[FULL_WORDS]
    while word < free.size and free[word] == 0:
        word += 1
    own[FULL_WORDS] = word
    if word == free.size:
        return NONE
    bits = free[word]
    free[word] = bits & bits - 1
    physical: int = (word << WORD_SHIFT) + lowest_bit(bits)
    state.physical[sm, physical, REFERENCES] = 1
    own[TAKEN] += 1
    own[MOST] = max(own[MOST], own[TAKEN])
    return physical


def bank_of(state: Any, physical: int) -> int:
    """The bank of a physical register."""
    return remainder(physical, state.banks)


def drop(state: Any, sm: int, physical: int) -> None:
    """One reference less; without one the register is free and its entry goes."""
    row = state.physical[sm, physical]
    row[REFERENCES] -= 1
    if row[REFERENCES] == 0:
        if row[LANES] != 0:
            remove(state, sm, physical)
        _free(state, sm, physical)


def _free(state: Any, sm: int, physical: int) -> None:
    own, word = state.own[sm], physical >> WORD_SHIFT
    state.free[sm, word] |= 1 << (int64(physical) & WORD - 1)
    own[FULL_WORDS] = min(own[FULL_WORDS], word)
    own[TAKEN] -= 1


def is_alone(state: Any, sm: int, warp: int, register: int) -> bool:
    """Whether a register has a physical register to which nothing else refers, no pending source included."""
    row = state.registers[warp, register]
    if row[PLACE] == NONE or row[PENDING]:
        return False
    physical = state.physical[sm, row[PLACE]]
    return bool(physical[REFERENCES] == 1 and physical[LANES] == 0)


@noinline
def replace(state: Any, sm: int, warp: int, register: int) -> int:
    """A register is written anew: returns its physical register, which nothing else refers to; NONE if there is none.

    The old one is kept for pending sources, unless no other is free.
    """
    row = state.registers[warp, register]
    old: int = row[PLACE]
    owned = old != NONE and state.physical[sm, old, REFERENCES] == 1
    physical: int = old if owned and row[PENDING] == 0 else take(state, sm)
    if physical == NONE and owned:
        physical = old
    if physical == NONE:
        unassign(state, sm, warp, register)
    elif physical == old:
        remove(state, sm, old)
        row[DYING] = 0
    else:
        assign(state, sm, warp, register, physical)
    return physical


def assign(state: Any, sm: int, warp: int, register: int, physical: int) -> None:
    """A register is in this physical register from now on, whose reference it takes over."""
    row = state.registers[warp, register]
    row[DYING] = 0
    if row[PLACE] != NONE:
        unassign(state, sm, warp, register)
    row[PLACE] = physical
    state.own[sm, MAPPED] += 1


@noinline
def unassign(state: Any, sm: int, warp: int, register: int) -> None:
    """A register has no value any more; sources that are pending keep the place."""
    leave(state, sm, warp, register)


def leave(state: Any, sm: int, warp: int, register: int) -> None:
    """`unassign`, compiled where it is called."""
    row, own = state.registers[warp, register], state.own[sm]
    old: int = row[PLACE]
    row[DYING] = 0
    if old == NONE:
        return
    row[PLACE] = NONE
    own[MAPPED] -= 1
    node: int = own[FREE_NODE]
    if row[PENDING] and node != NONE:
        own[FREE_NODE] = state.physical[sm, node, NEXT_FORMER]
        state.physical[sm, node, FORMER] = old
        state.physical[sm, node, NEXT_FORMER] = row[SUPERSEDED]
        row[SUPERSEDED] = node
    else:
        drop(state, sm, old)


def issue_source(state: Any, warp: int, register: int, is_last: bool) -> None:
    """An instruction that reads the register has issued; with ``is_last`` nothing reads the value afterwards."""
    row = state.registers[warp, register]
    row[PENDING] += 1
    if is_last:
        row[DYING] = 1


def collect_source(state: Any, warp: int, register: int) -> bool:
    """The collector has read a source; returns whether `end_sources` has anything to do."""
    row = state.registers[warp, register]
    row[PENDING] -= 1
    if row[PENDING] != 0:
        return False
    return bool(row[DYING] != 0 or row[SUPERSEDED] != NONE)


@noinline
def end_sources(state: Any, sm: int, warp: int, register: int) -> bool:
    """No source of the register is pending: superseded places go; returns whether its value was released as dead."""
    row = state.registers[warp, register]
    if row[SUPERSEDED] != NONE:
        _end_superseded(state, sm, warp, register)
    if row[DYING] == 0 or row[PLACE] == NONE:
        return False
    leave(state, sm, warp, register)
    return True


@noinline
def _end_superseded(state: Any, sm: int, warp: int, register: int) -> None:
    node: int = state.registers[warp, register, SUPERSEDED]
    while node != NONE:
        drop(state, sm, state.physical[sm, node, FORMER])
        following: int = state.physical[sm, node, NEXT_FORMER]
        state.physical[sm, node, NEXT_FORMER] = state.own[sm, FREE_NODE]
        state.own[sm, FREE_NODE] = node
        node = following
    state.registers[warp, register, SUPERSEDED] = NONE


@noinline
def release(state: Any, sm: int, warp: int, register: int) -> bool:
    """A register is dead from here on; returns whether it gave its value up now (pending sources delay that)."""
    row = state.registers[warp, register]
    if row[PLACE] == NONE:
        return False
    if row[PENDING]:
        row[DYING] = 1
        return False
    leave(state, sm, warp, register)
    return True


@noinline
def end_warp(state: Any, sm: int, warp: int) -> None:
    """A warp has ended; all its sources are read."""
    for register in range(state.registers.shape[1]):
        unassign(state, sm, warp, register)
