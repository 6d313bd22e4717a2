"""Places of an SM that its thread blocks take: the lowest free one when a thread block comes, until its last warp ends.

A state that uses it has these fields.  Per warp: ``place`` of its thread block.  Per SM, by place: ``block``, the
thread block that is there, NOBODY if none is; ``left``, how many of its warps run.  All functions run inside hooks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program, index_in_block, per_sm, per_warp, thread_block

NOBODY = -1


def empty_places(places: int) -> dict[str, NDArray[Any]]:
    """The fields of an SM with so many places, before any thread block has come."""
    return {
        "place": per_warp(np.int64(NOBODY)),
        "block": per_sm(np.full(places, NOBODY, np.int64)),
        "left": per_sm(np.zeros(places, np.int64)),
    }


def arrive(state: Any, program: Program, sm: int, warp: int) -> int:
    """A warp starts; returns the place of its thread block."""
    block = thread_block(program, warp)
    place = 0
    wanted = NOBODY if index_in_block(program, warp) == 0 else block
    while state.block[sm, place] != wanted:
        place += 1
    state.block[sm, place] = block
    state.left[sm, place] += 1
    state.place[warp] = place
    return place


def depart(state: Any, sm: int, warp: int) -> bool:
    """A warp has ended; returns whether it was the last one of its thread block, whose place is free then."""
    place = state.place[warp]
    state.left[sm, place] -= 1
    if state.left[sm, place] != 0:
        return False
    state.block[sm, place] = NOBODY
    return True
