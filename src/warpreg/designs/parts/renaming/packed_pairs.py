"""Whether the pairs of the compiler share a physical register: by placement and by pair of a warp (thesis, Figure 2.6).

A state that uses it has, per warp, ``marks`` [register]: HAD_PLACE if the register has had a place, PACKED if it has
shared one with its buddy.  They last until the warp ends.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import Plan, count
from warpreg.designs.parts.renaming.events import BUDDIES_PACKED, BUDDIES_PLACED, PAIRS_PACKED, PAIRS_PLACED
from warpreg.designs.parts.renaming.slices import int64
from warpreg.designs.parts.renaming.table import UNMAPPED, position_of

HAD_PLACE, PACKED = 1, 2


def count_pair(state: Any, warp: int, register: int, buddy: int, plan: Plan) -> None:
    """A register of a pair has been placed: count the placement if its buddy has a place, and the pair once."""
    marks = int64(state.marks[warp, register])
    if not marks & HAD_PLACE:
        state.marks[warp, register] = marks | HAD_PLACE
        count(plan, PAIRS_PLACED, int64(state.marks[warp, buddy]) & HAD_PLACE)
    other = int64(state.table[warp, buddy])
    if other == UNMAPPED:
        return
    count(plan, BUDDIES_PLACED)
    if position_of(other) == position_of(int64(state.table[warp, register])):
        count(plan, BUDDIES_PACKED)
        if not marks & PACKED:
            count(plan, PAIRS_PACKED)
            state.marks[warp, register] |= PACKED
            state.marks[warp, buddy] |= PACKED
