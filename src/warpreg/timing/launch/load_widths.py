"""Brings the widths of values to the core: those of each warp stand behind its access records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.pieces import Piece, Splitter
from warpreg.timing.core.typed import Array
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.hooks.result_widths import WORD_BYTES
from warpreg.trace import long_arrays
from warpreg.trace.path import RecordedPath
from warpreg.trace.widths import WidthReader


def with_widths(
    batches: Iterable[ThreadBlocks], run: RecordedPath, reader: WidthReader, mode: Mode
) -> Iterator[ThreadBlocks]:
    """The batches of a run's feed, all of them in order, with the widths that ``reader`` finds."""
    splitter = Splitter(reader.places.recorded.size, mode, reader)
    pieces = splitter.pieces(run.path_chunks())
    sizes, widths = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    for batch in batches:
        rows = batch.count * batch.warps
        while sizes.size < rows:
            piece = next(pieces, None)
            if piece is None:
                raise TimingError(f"the recorded path ends before thread block {batch.first + batch.count - 1}")
            sizes = np.concatenate((sizes, _sizes(piece, batch.warps)))
            widths = long_arrays.joined((widths, piece.widths))
        start = np.concatenate(([0], np.cumsum(sizes[:rows])))
        yield replace(batch, widths=widths[: start[-1]], width_start=start)
        sizes, widths = sizes[rows:], widths[start[-1] :]


def _sizes(piece: Piece, warps: int) -> NDArray[np.int64]:
    """Widths by warp of each thread block."""
    found = np.zeros((piece.first_rows.size, warps), np.int64)
    rows = np.diff(piece.first_rows, append=piece.starts.size)
    block = np.repeat(np.arange(rows.size), rows)
    found[block, np.arange(block.size) - piece.first_rows[block]] = np.diff(piece.width_starts)
    return found.reshape(-1)


def records_with_widths(batch: ThreadBlocks) -> tuple[Array, Array]:
    """Where the records of each warp begin, and the records; behind those of a warp its widths, if there are any, and
    how many words they take.
    """
    if batch.widths is None or batch.width_start is None:
        return batch.access_start, batch.accesses
    records, sizes = np.diff(batch.access_start), np.diff(batch.width_start)
    words = -(-sizes // WORD_BYTES)
    start = np.concatenate(([0], np.cumsum(records + words + 1)))
    joined = long_arrays.zeros(int(start[-1]), np.int64)
    _move(batch.accesses, batch.access_start, joined, start[:-1])
    _move(batch.widths, batch.width_start, joined.view(np.uint8), WORD_BYTES * (start[:-1] + records))
    joined[start[1:] - 1] = words
    return start, joined


def _move(pieces: NDArray[Any], start: Array, to: NDArray[Any], places: Array) -> None:
    """Copy the pieces that begin at ``start`` to their places."""
    for begin, end, place in zip(start.tolist(), start[1:].tolist(), places.tolist(), strict=False):
        to[place : place + end - begin] = pieces[begin:end]
