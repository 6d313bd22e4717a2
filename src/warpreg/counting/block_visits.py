"""How often the warps of a path entered each basic block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled, read_only
from warpreg.counting import status
from warpreg.counting.distinct_warps import weighted
from warpreg.counting.errors import ReplayError
from warpreg.counting.split_warps import NEXT_WARP, THREAD_BLOCK
from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.trace.path import RecordedPath

ANY_CHUNK = read_only(np.zeros(0, np.uint32))


def block_visits(paths: Iterable[RecordedPath], blocks: int, mode: Mode) -> NDArray[np.int64]:
    """By basic block: how often the warps of these paths entered it, int64[blocks].

    Raises ReplayError for words that are not a path of a kernel with this number of basic blocks.
    """
    total, position = np.zeros(blocks, np.int64), np.zeros(1, np.int64)
    count = add_visits if mode == "interpreted" else compiled(add_visits, (ANY_CHUNK, total, position))
    for path in paths:
        for times, part in weighted(path):
            visits = np.zeros(blocks, np.int64)
            for chunk in part.path_chunks():
                words = np.ascontiguousarray(chunk, np.uint32)
                stopped = count(words, visits, position)
                if stopped != status.OK:
                    raise ReplayError(status.path_refusal(stopped, words, int(position[0]), blocks))
            total += times * visits
    return total


def add_visits(path: NDArray[np.uint32], visits: NDArray[np.int64], position: NDArray[np.int64]) -> int:
    """Add the visits in a chunk; ``position`` int64[1] is that of the last record.  Returns a status of
    :mod:`warpreg.counting.status`.
    """
    at = 0
    while at < path.size:
        position[0] = at
        word = path[at]
        kind = word & 3
        if kind == THREAD_BLOCK:
            if word != THREAD_BLOCK:
                return status.BAD_THREAD_BLOCK
        elif kind == NEXT_WARP:
            if word >> 2 >= REPLAY_SLOTS:
                return status.BAD_WARP
        elif word >> 2 >= visits.size:
            return status.BAD_BLOCK
        else:
            visits[word >> 2] += 1
        at += 2 if kind & 1 else 1
    return status.OK if at == path.size else status.CUT
