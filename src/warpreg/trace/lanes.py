"""SIMD efficiency: the lanes active in the instructions of a recorded path."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled, read_only
from warpreg.trace.path import PathWord

MAX_WARPS = 64
"""Maximum number of warps per thread block (2048 threads)."""

ANY_CHUNK = read_only(np.zeros(0, np.uint32))
VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)


def lane_instructions(chunks: Iterable[NDArray[np.uint32]], block_instructions: NDArray[np.int64]) -> int:
    """Instructions times active lanes over a path; ``block_instructions`` int64[blocks] is the length of each block.

    Divided by 32 times the warp-instructions, it is the SIMD efficiency: 1 if no lane is ever idle.
    """
    lanes = np.zeros(MAX_WARPS, np.int64)
    warp = np.zeros(1, np.int64)
    count = compiled(count_lanes, (ANY_CHUNK, block_instructions, lanes, warp))
    return sum(int(count(chunk, block_instructions, lanes, warp)) for chunk in chunks)


def count_lanes(
    words: NDArray[np.uint32],
    block_instructions: NDArray[np.int64],
    lanes: NDArray[np.int64],
    warp: NDArray[np.int64],
) -> int:
    """Count one chunk; ``lanes`` by warp and the current ``warp`` carry over to the next chunk."""
    total = 0
    place = 0
    while place < words.size:
        kind, payload = words[place] & 3, words[place] >> 2
        place += 1
        if kind == THREAD_BLOCK:
            place += 1
        elif kind == WARP:
            warp[0] = payload
        else:
            if kind == VISIT_MASK:
                mask = words[place]
                place += 1
                count = 0
                while mask:
                    mask &= mask - np.uint32(1)
                    count += 1
                lanes[warp[0]] = count
            total += block_instructions[payload] * lanes[warp[0]]
    return total
