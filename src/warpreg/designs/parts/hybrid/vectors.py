"""Free vectors of an SM: two first-in, first-out lists, one for each technology (tfet section 3.3, Figure 5).

A state that uses it has these fields.  Kernel-wide: ``vectors``, those of the register file; ``cmos`` and ``tfet``, the
vectors of each kind (of `UNLIMITED`, as many as vectors each); ``gating``, which CMOS vectors are on.  Vectors 0 to
``cmos`` - 1 are CMOS, the next ``tfet`` ones TFET.  Per SM: ``free`` [kind, place], ring buffers, and ``own`` of
`warpreg.designs.parts.hybrid.columns`.  Superseded vectors are those that only pending sources, or lanes that a write
leaves alone, still need.

**Renaming cannot run out.**  Let ``D`` be the most registers of resident warps so far, and ``on(D)`` the vectors that
are on (`powered_for` and all TFET vectors).  A register has one vector at most besides a superseded one, so that
``free = on(D) - mapped - superseded``.

1. ``on(D) - D`` does not grow with ``D``, for each way of gating: of `SCALED` it is ``tfet - floor(D * tfet /
   vectors)``, of `UNLIMITED` ``2 * vectors - D``.  It is 0 or more, because ``D`` is at most ``vectors``: occupancy
   sees to it.
2. ``spare`` is ``on(B) - B`` for a bound ``B`` of all ``D`` to come: the registers of as many thread blocks as fit
   warp slots and vectors.  By 1, ``spare <= on(D) - D`` at any time.
3. A vector is superseded only while ``superseded < spare`` (`table.rename`).  Hence ``superseded <= on(D) - D``, and
   ``free >= D - mapped``, which is at least the number of registers of resident warps without a vector.
4. A register that needs a vector has none, or has just given its own back, or has superseded it.  In the first two
   cases that number is 1 or more before the vector is taken.  In the third it may be 0, but ``superseded < spare`` held
   before, so that ``free >= 1``.  In each case one of the lists has a vector, and the other list stands in for an empty
   one.

Where a run takes more registers for resident than the register file has (``--registers``), ``D`` exceeds ``vectors``;
then a result may go without a vector, which is counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.bits import remainder
from warpreg.designs.parts.hybrid.columns import (
    FIRST,
    MAX_RESIDENT,
    NONE,
    NUMBER,
    OWN_COLUMNS,
    POWERED,
    RESIDENT,
    SPARE,
)
from warpreg.designs.parts.renaming.slices import int64

CMOS, TFET = range(2)
"""Kinds of vectors, and the levels that hold them."""
SCALED, UNLIMITED = range(2)
"""CMOS vectors that are on: their share of the demand (section 3.3), or all of a file that has as many of each kind as
vectors."""


def powered_for(state: Any, demand: int) -> int:
    """CMOS vectors that are on for so many registers of resident warps."""
    if state.gating == UNLIMITED:
        return int(state.cmos)
    return int(min(-(-demand * state.cmos // state.vectors), state.cmos))


def empty_lists(cmos: int, tfet: int) -> dict[str, NDArray[np.int32]]:
    """The initial rows of an SM: no CMOS vector is on, all TFET vectors are free."""
    free = np.zeros((2, max(cmos, tfet, 1)), np.int32)
    free[TFET, :tfet] = np.arange(cmos, cmos + tfet)
    own = np.zeros(OWN_COLUMNS, np.int32)
    own[NUMBER + TFET] = tfet
    return {
        "free": free,
        "own": own,
    }


def kind_of(state: Any, vector: int) -> int:
    """CMOS or TFET."""
    return TFET if vector >= state.cmos else CMOS


def bank_of(state: Any, vector: int) -> int:
    """The bank of a vector."""
    return remainder(vector, state.banks)


def give(state: Any, sm: int, vector: int) -> None:
    """A vector is free: it joins the end of its list."""
    kind = kind_of(state, vector)
    own, free = state.own[sm], state.free[sm, kind]
    place = own[FIRST + kind] + own[NUMBER + kind]
    free[place - free.size if place >= free.size else place] = vector
    own[NUMBER + kind] += 1


def take(state: Any, sm: int, kind: int) -> int:
    """The first free vector of a kind; NONE if there is none."""
    own, free = state.own[sm], state.free[sm, kind]
    if own[NUMBER + kind] == 0:
        return NONE
    place = own[FIRST + kind]
    own[FIRST + kind] = 0 if place + 1 == free.size else place + 1
    own[NUMBER + kind] -= 1
    vector: int = int64(free[place])
    return vector


def reserve(state: Any, sm: int, slots: int, block_registers: int, block_warps: int) -> None:
    """Set ``spare`` for thread blocks of so many registers and warps in so many slots."""
    most = min(state.vectors // block_registers, slots // block_warps) * block_registers
    state.own[sm, SPARE] = max(powered_for(state, most) + state.tfet - most, 0)


def enter(state: Any, sm: int, registers: int) -> None:
    """A warp is resident: CMOS vectors are switched on if there never were as many registers."""
    state.own[sm, RESIDENT] += registers
    if state.own[sm, RESIDENT] > state.own[sm, MAX_RESIDENT]:
        state.own[sm, MAX_RESIDENT] = state.own[sm, RESIDENT]
        powered = powered_for(state, state.own[sm, MAX_RESIDENT])
        for vector in range(state.own[sm, POWERED], powered):
            give(state, sm, vector)
        state.own[sm, POWERED] = powered


def leave(state: Any, sm: int, registers: int) -> None:
    """A warp is no longer resident; what was switched on stays on until the kernel ends."""
    state.own[sm, RESIDENT] -= registers


def in_use(state: Any, sm: int) -> int:
    """CMOS vectors that are in use."""
    return int(state.own[sm, POWERED] - state.own[sm, NUMBER + CMOS])
