"""The path of a kernel, sorted by warp, in pieces of complete thread blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled
from warpreg.counting import split_warps, status
from warpreg.counting.errors import ReplayError
from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.trace import long_arrays
from warpreg.trace.widths import WidthReader

THE_END = np.array([split_warps.THREAD_BLOCK, 0], np.uint32)
PIECE_WORDS = 1 << 17
"""Words of a path that are sorted at a time, approximately."""


class Piece(NamedTuple):
    """Complete thread blocks of a path, sorted by warp.  ``thread_blocks`` are their indices, ``first_rows`` the first
    row of each.  Row ``r`` is a warp with the path ``words[starts[r]:stops[r]]`` and, if requested, the widths
    ``widths[width_starts[r]:width_starts[r + 1]]``.
    """

    words: NDArray[np.uint32]
    thread_blocks: NDArray[np.int64]
    first_rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    widths: NDArray[np.uint8]
    width_starts: NDArray[np.int64]


class Splitter:
    """Sorts the path of a kernel with this number of basic blocks by warp, and its widths if a reader is given."""

    def __init__(self, blocks: int, mode: Mode, widths: WidthReader | None = None) -> None:
        self._blocks = blocks
        self._widths = widths
        self._mode = mode
        self._progress = np.zeros(split_warps.COLUMNS, np.int64)
        typical = (np.zeros(0, np.uint32), *self._arguments(THE_END))
        self._split = split_warps.split if mode == "interpreted" else compiled(split_warps.split, typical)

    def pieces(self, path: Iterable[NDArray[np.uint32]]) -> Iterator[Piece]:
        """The thread blocks in order.  Raises ReplayError for words that are not a path of this kernel."""
        unsorted: list[NDArray[np.uint32]] = []
        for chunk in chain(path, (THE_END,)):
            unsorted.append(chunk)
            is_enough = chunk is THE_END or sum(one.size for one in unsorted) >= PIECE_WORDS
            if is_enough and np.any(chunk == split_warps.THREAD_BLOCK):
                words = long_arrays.joined(unsorted)
                piece, last = self._sorted(words)
                unsorted = [words[last:]]
                yield piece

    def _sorted(self, words: NDArray[np.uint32]) -> tuple[Piece, int]:
        """A piece, and the start of the first thread block that is not in it."""
        arguments = self._arguments(words)
        warp = int(self._progress[split_warps.WARP])
        stopped = self._split(words, *arguments)
        if stopped != status.OK:
            raise ReplayError(status.path_refusal(stopped, words, int(self._progress[split_warps.AT]), self._blocks))
        if words[0] != split_warps.THREAD_BLOCK:
            raise ReplayError(status.path_refusal(stopped, words, 0, self._blocks))
        last, written, found, rows = self._progress[split_warps.LAST :].tolist()
        sorted_words, thread_blocks, first_rows, starts, stops = arguments[2:-1]
        widths = self._sorted_widths(words[:last], warp, first_rows[:found], rows)
        return Piece(
            sorted_words[:written], thread_blocks[:found], first_rows[:found], starts[:rows], stops[:rows], *widths
        ), last

    def _sorted_widths(
        self, words: NDArray[np.uint32], warp: int, rows: NDArray[np.int64], count: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The widths by row, and where those of each row begin."""
        starts = np.zeros(count + 1, np.int64)
        if self._widths is None:
            return np.zeros(0, np.uint8), starts
        in_order, first = self._widths.of(words), self._widths.places.first
        counting = words, warp, rows, first, starts[1:]
        self._compiled(split_warps.count_bytes, counting)(*counting)
        np.cumsum(starts, out=starts)
        sorted_widths = long_arrays.zeros(in_order.size, np.uint8)
        sorting = words, warp, rows, first, in_order, starts[:-1].copy(), sorted_widths
        self._compiled(split_warps.sort_bytes, sorting)(*sorting)
        return sorted_widths, starts

    def _compiled(self, function: Function, arguments: tuple[Any, ...]) -> Function:
        return function if self._mode == "interpreted" else compiled(function, arguments)

    def _arguments(self, words: NDArray[np.uint32]) -> tuple[Any, ...]:
        """Buffers for all that ``words`` may contain: at most one thread block per word that looks like the start of
        one, and the largest number of warps of a thread block as rows for each.
        """
        heads = int(np.count_nonzero(words == split_warps.THREAD_BLOCK))
        longs = (np.zeros(n, np.int64) for n in (heads, heads, heads * REPLAY_SLOTS, heads * REPLAY_SLOTS))
        return (
            self._progress,
            np.zeros(REPLAY_SLOTS, np.int64),
            long_arrays.zeros(words.size, np.uint32),
            *longs,
            self._blocks,
        )
