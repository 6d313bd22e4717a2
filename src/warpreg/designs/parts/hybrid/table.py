"""The renaming table: the vector of each register of each warp (tfet sections 3.2, 3.3).

A state that uses it has ``registers`` of `warpreg.designs.parts.hybrid.columns` besides the fields of `vectors`.  The
flags of a register: DYING where the value is dead once nothing is pending, CARRIES where a result that is under way
leaves lanes alone that the old vector holds.

A destination gets a vector when its instruction issues.  The vector before is free at once, unless a source still needs
it, or lanes do that the instruction does not write: then it is superseded, and free when nothing of the register is
pending.  Without room for that, and while an older one is superseded, the result is written in place, as in a plain
register file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.parts.hybrid.columns import (
    FLAGS,
    NONE,
    OLD,
    PENDING,
    REGISTER_COLUMNS,
    SPARE,
    SUPERSEDED,
    VECTOR,
)
from warpreg.designs.parts.hybrid.vectors import give, take
from warpreg.designs.parts.renaming.slices import int64

DYING, CARRIES = 1, 2


def empty_table(registers: int) -> dict[str, NDArray[Any]]:
    """The initial rows of a warp."""
    rows = np.zeros((registers, REGISTER_COLUMNS), np.int32)
    rows[:, [VECTOR, OLD]] = NONE
    return {"registers": rows}


def vector_of(state: Any, warp: int, register: int) -> int:
    """The vector of a register, or NONE."""
    vector: int = int64(state.registers[warp, register, VECTOR])
    return vector


def must_stay(state: Any, sm: int, warp: int, register: int, partial: bool) -> bool:
    """Whether a destination keeps its vector: the old one is needed beside a new one, and there is no room for it."""
    row, own = state.registers[warp, register], state.own[sm]
    if row[VECTOR] == NONE or not (partial or row[PENDING]):
        return False
    return bool(row[OLD] != NONE or own[SUPERSEDED] >= own[SPARE])


def rename(state: Any, sm: int, warp: int, register: int, kind: int, partial: bool) -> int:
    """A destination that need not stay gets a vector of the kind, or of the other one if that list is empty.

    ``partial``: lanes that the instruction does not write may need their old value.  Returns the number of vectors that
    are free again.  The destination is without a vector only where resident warps have too many registers (`vectors`).
    """
    row = state.registers[warp, register]
    old, released = row[VECTOR], 0
    if old != NONE:
        if partial or row[PENDING]:
            row[OLD] = old
            state.own[sm, SUPERSEDED] += 1
        else:
            give(state, sm, old)
            released = 1
    row[FLAGS] = CARRIES if old != NONE and partial else 0
    vector = take(state, sm, kind)
    if vector == NONE:
        vector = take(state, sm, 1 - kind)
    row[VECTOR] = vector
    return released


def begin_use(state: Any, warp: int, register: int) -> None:
    """A source or a destination of an instruction that issues."""
    state.registers[warp, register, PENDING] += 1


def end_use(state: Any, sm: int, warp: int, register: int) -> int:
    """A source is read, or a result produced.  Returns the number of vectors that are free again."""
    row = state.registers[warp, register]
    row[PENDING] -= 1
    if row[PENDING] != 0:
        return 0
    released = 0
    if row[OLD] != NONE:
        give(state, sm, row[OLD])
        row[OLD] = NONE
        state.own[sm, SUPERSEDED] -= 1
        released = 1
    if row[FLAGS] & DYING:
        released += release(state, sm, warp, register)
    return released


def kill(state: Any, sm: int, warp: int, register: int) -> int:
    """A register is dead from here on, which is delayed by what is pending.  Returns the number of vectors that are
    free again.
    """
    if state.registers[warp, register, PENDING]:
        state.registers[warp, register, FLAGS] |= DYING
        return 0
    return release(state, sm, warp, register)


def end_warp(state: Any, sm: int, warp: int) -> None:
    """A warp has ended: all its vectors are free.  Nothing is pending any more."""
    for register in range(state.registers.shape[1]):
        release(state, sm, warp, register)


def release(state: Any, sm: int, warp: int, register: int) -> int:
    """The vector of a register is free.  Returns the number of vectors that are free again."""
    row = state.registers[warp, register]
    if row[VECTOR] == NONE:
        return 0
    give(state, sm, row[VECTOR])
    row[VECTOR] = NONE
    row[FLAGS] = 0
    return 1
