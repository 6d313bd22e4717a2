"""The cache of intervals: what each warp has in its partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program, per_warp
from warpreg.designs.parts.intervals.bit_sets import words_of

NO_INTERVAL = -1


class State(NamedTuple):
    """By warp, sets of registers are words as in `warpreg.designs.parts.intervals.bit_sets`."""

    main: int
    """The level of the main register file."""
    liveness: bool
    """Whether dead values are left out."""
    interval: NDArray[np.int32]
    """By warp: its interval, NO_INTERVAL before the first."""
    cached: NDArray[np.int64]
    """By warp [word]: registers with an entry in the cache."""
    dirty: NDArray[np.int64]
    """By warp [word]: those that were written there."""
    moving: NDArray[np.int32]
    """By warp: transfers that are not complete."""
    last: NDArray[np.int32]
    """By warp: the instruction that issued last, -1 before the first."""
    away: NDArray[np.uint8]
    """By warp: it has left the active set, and its registers with it."""


def empty_cache(program: Program, main: int, liveness: bool) -> State:
    """Of a fresh warp."""
    words = np.zeros(words_of(program.register_count), np.int64)
    return State(
        main=main,
        liveness=liveness,
        interval=per_warp(np.int32(NO_INTERVAL)),
        cached=per_warp(words),
        dirty=per_warp(words.copy()),
        moving=per_warp(np.int32(0)),
        last=per_warp(np.int32(-1)),
        away=per_warp(np.uint8(0)),
    )
