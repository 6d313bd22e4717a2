"""Renaming with counted references: several registers may be in one physical register (thesis §5.5.1, Figure 5.5).

A physical register is free when nothing refers to it any more: no register of a warp, no load under way, and no source
that has issued and that the collector has not read.  Its entry of the address mapping table goes with it.

A state that uses it has the fields of `address_table` and these.  Per warp: ``table`` [register], its physical register
(NONE without a value); ``pending`` [register], sources that have issued and are not read; ``dying`` [register], whether
the value is dead once they are; ``superseded`` [register], the first of its former places that they still need.  Per
SM: ``references`` [physical register]; ``free`` [word], 32 of them each, a bit for each free one; ``use`` [TAKEN,
MAPPED, MOST]: physical registers that are not free, registers of warps that have one, the most that were in use;
``former`` and ``next_former`` [node], chains of superseded places, ``free_former`` [1], the first free node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.load_sharing.address_table import NONE, remove
from warpreg.designs.renaming.free_map import lowest_bit
from warpreg.jit.noinline import noinline

WORD_SHIFT = 5
WORD = 1 << WORD_SHIFT
TAKEN, MAPPED, MOST = range(3)


def all_free(physical: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field."""
    free = np.full(-(-physical // WORD), (1 << WORD) - 1, np.int64)
    if rest := physical % WORD:
        free[-1] = (1 << rest) - 1
    following = np.arange(1, physical + 1)
    following[-1] = NONE
    return {
        "references": np.zeros(physical, np.int64),
        "free": free,
        "use": np.zeros(3, np.int64),
        "former": np.zeros(physical, np.int64),
        "next_former": following.astype(np.int64),
        "free_former": np.zeros(1, np.int64),
    }


def unmapped(registers: int) -> dict[str, NDArray[Any]]:
    """The initial rows of a warp, by field."""
    return {
        "table": np.full(registers, NONE, np.int64),
        "pending": np.zeros(registers, np.int64),
        "dying": np.zeros(registers, np.uint8),
        "superseded": np.full(registers, NONE, np.int64),
    }


@noinline
def take(state: Any, sm: int) -> int:
    """The lowest free physical register, with one reference; NONE if all are in use."""
    word = 0
    while word < state.free.shape[1] and state.free[sm, word] == 0:
        word += 1
    if word == state.free.shape[1]:
        return NONE
    bits = state.free[sm, word]
    state.free[sm, word] = bits & bits - 1
    physical: int = (word << WORD_SHIFT) + lowest_bit(bits)
    state.references[sm, physical] = 1
    state.use[sm, TAKEN] += 1
    state.use[sm, MOST] = max(state.use[sm, MOST], state.use[sm, TAKEN])
    return physical


def drop(state: Any, sm: int, physical: int) -> None:
    """One reference less; without one the register is free and its entry goes."""
    state.references[sm, physical] -= 1
    if state.references[sm, physical] == 0:
        _free(state, sm, physical)


@noinline
def _free(state: Any, sm: int, physical: int) -> None:
    remove(state, sm, physical)
    state.free[sm, physical >> WORD_SHIFT] |= 1 << (physical & WORD - 1)
    state.use[sm, TAKEN] -= 1


def is_alone(state: Any, sm: int, physical: int) -> bool:
    """Whether one register of a warp, and nothing else, refers to it."""
    return bool(state.references[sm, physical] == 1)


def assign(state: Any, sm: int, warp: int, register: int, physical: int) -> None:
    """A register is in this physical register from now on, whose reference it takes over."""
    unassign(state, sm, warp, register)
    state.table[warp, register] = physical
    state.use[sm, MAPPED] += 1


@noinline
def unassign(state: Any, sm: int, warp: int, register: int) -> None:
    """A register has no value any more; sources that are pending keep the place."""
    old: int = state.table[warp, register]
    state.dying[warp, register] = 0
    if old == NONE:
        return
    state.table[warp, register] = NONE
    state.use[sm, MAPPED] -= 1
    node: int = state.free_former[sm, 0]
    if state.pending[warp, register] and node != NONE:
        state.free_former[sm, 0] = state.next_former[sm, node]
        state.former[sm, node] = old
        state.next_former[sm, node] = state.superseded[warp, register]
        state.superseded[warp, register] = node
    else:
        drop(state, sm, old)


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
    node: int = state.superseded[warp, register]
    while node != NONE:
        drop(state, sm, state.former[sm, node])
        following: int = state.next_former[sm, node]
        state.next_former[sm, node] = state.free_former[sm, 0]
        state.free_former[sm, 0] = node
        node = following
    state.superseded[warp, register] = NONE
    if state.dying[warp, register] == 0:
        return False
    return release(state, sm, warp, register)


def release(state: Any, sm: int, warp: int, register: int) -> bool:
    """A register is dead from here on; returns whether it gave its value up now (pending sources delay that)."""
    if state.table[warp, register] == NONE:
        return False
    if state.pending[warp, register]:
        state.dying[warp, register] = 1
        return False
    unassign(state, sm, warp, register)
    return True


@noinline
def end_warp(state: Any, sm: int, warp: int) -> None:
    """A warp has ended; all its sources are read."""
    for register in range(state.table.shape[1]):
        unassign(state, sm, warp, register)
