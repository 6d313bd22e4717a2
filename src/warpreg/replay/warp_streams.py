"""Paths of the warps of a run, loaded when a schedule needs their thread block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.errors import ReplayError
from warpreg.counting.pieces import Piece, Splitter
from warpreg.replay.schedule_core import ENDED, Streams
from warpreg.trace import long_arrays
from warpreg.trace.widths import WidthReader

MIN_WORDS = 1 << 20
"""Pools below this size are not compacted."""


class WarpStreams:
    """Paths of warps, one row each, in the order of thread blocks.

    ``words`` uint32 is the pool of all paths.  ``start`` and ``stop`` int64[rows] are positions in it; ``row_state`` is
    uint8[rows].  ``first_row`` int64[thread blocks] is -1 for one that is not loaded; ``row_count`` is its number of
    warps, ``left`` the number of those that have not ended, -1 before the first starts.  The pool is compacted from
    time to time, so it grows with the unfinished thread blocks, including those that were skipped; a long one is in a
    file.
    ``widths`` uint8 is the pool of widths; those of a row start at ``width_start`` int64[rows].
    """

    def __init__(
        self, path: Iterable[NDArray[np.uint32]], blocks: int, mode: Mode, widths: WidthReader | None = None
    ) -> None:
        self.words = np.zeros(0, np.uint32)
        self.widths = np.zeros(0, np.uint8)
        self.width_start = np.zeros(0, np.int64)
        self._width_stop = np.zeros(0, np.int64)
        self.start = np.zeros(0, np.int64)
        self.stop = np.zeros(0, np.int64)
        self.row_state = np.zeros(0, np.uint8)
        self.first_row = np.zeros(0, np.int64)
        self.row_count = np.zeros(0, np.int64)
        self.left = np.zeros(0, np.int64)
        self._pieces = Splitter(blocks, mode, widths).pieces(path)

    @property
    def arrays(self) -> Streams:
        """The arrays in the form that the core reads."""
        rows = self.start, self.stop, self.row_state, self.width_start
        return Streams(self.words, *rows, self.first_row, self.row_count, self.left)

    def load(self, thread_block: int) -> bool:
        """Read until a thread block is loaded; False if the path has no such index.

        Positions in ``words`` may change; ``start`` and ``stop`` of rows that have not ended are updated.  Raises
        ReplayError for words that are not a path of this kernel.
        """
        while thread_block >= self.first_row.size or self.first_row[thread_block] < 0:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._add(piece)
        return True

    def _add(self, piece: Piece) -> None:
        self._drop_ended()
        self._name(piece.thread_blocks, piece.first_rows, piece.starts.size)
        self.start = np.concatenate((self.start, piece.starts + self.words.size))
        self.stop = np.concatenate((self.stop, piece.stops + self.words.size))
        self.row_state = np.concatenate((self.row_state, np.zeros(piece.starts.size, np.uint8)))
        self.words = long_arrays.joined((self.words, piece.words))
        self.width_start = np.concatenate((self.width_start, piece.width_starts[:-1] + self.widths.size))
        self._width_stop = np.concatenate((self._width_stop, piece.width_starts[1:] + self.widths.size))
        self.widths = long_arrays.joined((self.widths, piece.widths))

    def _name(self, thread_blocks: NDArray[np.int64], rows: NDArray[np.int64], count: int) -> None:
        """Store the rows of thread blocks under their indices."""
        size = max(self.first_row.size, 1 + int(thread_blocks.max(initial=-1)))
        self.first_row = np.concatenate((self.first_row, np.full(size - self.first_row.size, -1)))
        self.left = np.concatenate((self.left, np.full(size - self.left.size, -1)))
        self.row_count = np.concatenate((self.row_count, np.zeros(size - self.row_count.size, np.int64)))
        is_known = np.any(self.first_row[thread_blocks] >= 0)
        self.first_row[thread_blocks] = rows + self.start.size
        if is_known or np.any(self.first_row[thread_blocks] != rows + self.start.size):
            raise ReplayError("the path has a thread block twice; a schedule is of one launch")
        self.row_count[thread_blocks] = np.diff(rows, append=count)

    def _drop_ended(self) -> None:
        """Compact the pool if most of it belongs to warps that have ended."""
        lengths = np.where(self.row_state == ENDED, 0, self.stop - self.start)
        kept = int(lengths.sum())
        if self.words.size < MIN_WORDS or kept > self.words.size // 2:
            return
        live = np.flatnonzero(lengths)
        pieces = [self.words[self.start[row] : self.stop[row]] for row in live]
        widths = [self.widths[self.width_start[row] : self._width_stop[row]] for row in live]
        self.words = long_arrays.joined(pieces) if pieces else np.zeros(0, np.uint32)
        self.widths = long_arrays.joined(widths) if widths else np.zeros(0, np.uint8)
        self.stop = np.cumsum(lengths)
        self.start = self.stop - lengths
        sizes = np.where(lengths > 0, self._width_stop - self.width_start, 0)
        self._width_stop = np.cumsum(sizes)
        self.width_start = self._width_stop - sizes
