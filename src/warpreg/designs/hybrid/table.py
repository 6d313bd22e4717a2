"""The renaming table: the vector of each register of each warp (tfet sections 3.2, 3.3).

A state that uses it has these fields besides those of `vectors`.  Per warp: ``table`` [register], its vector or NONE;
``pending`` [register], sources that have issued and are not read, and a result that is not produced; ``flags``
[register], DYING where the value is dead once nothing is pending, CARRIES where a result that is under way leaves lanes
alone that the old vector holds; ``old`` [register], the superseded vector or NONE.

A destination gets a vector when its instruction issues.  The vector before is free at once, unless a source still needs
it, or lanes do that the instruction does not write: then it is superseded, and free when nothing of the register is
pending.  Without room for that, and while an older one is superseded, the result is written in place, as in a plain
register file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.hybrid.vectors import NONE, give, take

DYING, CARRIES = 1, 2


def empty_table(registers: int) -> dict[str, NDArray[Any]]:
    """The initial rows of a warp."""
    return {
        "table": np.full(registers, NONE, np.int32),
        "old": np.full(registers, NONE, np.int32),
        "pending": np.zeros(registers, np.int32),
        "flags": np.zeros(registers, np.uint8),
    }


def vector_of(state: Any, warp: int, register: int) -> int:
    """The vector of a register, or NONE."""
    vector: int = np.int64(state.table[warp, register])  # type: ignore[assignment]
    return vector


def must_stay(state: Any, sm: int, warp: int, register: int, partial: bool) -> bool:
    """Whether a destination keeps its vector: the old one is needed beside a new one, and there is no room for it."""
    if state.table[warp, register] == NONE or not (partial or state.pending[warp, register]):
        return False
    return bool(state.old[warp, register] != NONE or state.superseded[sm, 0] >= state.spare[sm, 0])


def rename(state: Any, sm: int, warp: int, register: int, kind: int, partial: bool) -> int:
    """A destination that need not stay gets a vector of the kind, or of the other one if that list is empty.

    ``partial``: lanes that the instruction does not write may need their old value.  Returns the number of vectors that
    are free again.  The destination is without a vector only where resident warps have too many registers (`vectors`).
    """
    old, released = state.table[warp, register], 0
    if old != NONE:
        if partial or state.pending[warp, register]:
            state.old[warp, register] = old
            state.superseded[sm, 0] += 1
        else:
            give(state, sm, old)
            released = 1
    state.flags[warp, register] = CARRIES if old != NONE and partial else 0
    vector = take(state, sm, kind)
    if vector == NONE:
        vector = take(state, sm, 1 - kind)
    state.table[warp, register] = vector
    return released


def begin_use(state: Any, warp: int, register: int) -> None:
    """A source or a destination of an instruction that issues."""
    state.pending[warp, register] += 1


def end_use(state: Any, sm: int, warp: int, register: int) -> int:
    """A source is read, or a result produced.  Returns the number of vectors that are free again."""
    state.pending[warp, register] -= 1
    if state.pending[warp, register] != 0:
        return 0
    released = 0
    if state.old[warp, register] != NONE:
        give(state, sm, state.old[warp, register])
        state.old[warp, register] = NONE
        state.superseded[sm, 0] -= 1
        released = 1
    if state.flags[warp, register] & DYING:
        released += release(state, sm, warp, register)
    return released


def kill(state: Any, sm: int, warp: int, register: int) -> int:
    """A register is dead from here on, which is delayed by what is pending.  Returns the number of vectors that are
    free again.
    """
    if state.pending[warp, register]:
        state.flags[warp, register] |= DYING
        return 0
    return release(state, sm, warp, register)


def end_warp(state: Any, sm: int, warp: int) -> None:
    """A warp has ended: all its vectors are free.  Nothing is pending any more."""
    for register in range(state.table.shape[1]):
        release(state, sm, warp, register)


def release(state: Any, sm: int, warp: int, register: int) -> int:
    """The vector of a register is free.  Returns the number of vectors that are free again."""
    vector = state.table[warp, register]
    if vector == NONE:
        return 0
    give(state, sm, vector)
    state.table[warp, register] = NONE
    state.flags[warp, register] = 0
    return 1
