"""Sort the words of complete thread blocks of a path by warp; compiled like the hooks of a design.

The result is a path per warp: the VISIT and VISIT_MASK words of :mod:`warpreg.trace.path`, in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.counting.status import BAD_BLOCK, BAD_THREAD_BLOCK, BAD_WARP, CUT, OK
from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.trace.path import PathWord

WARP, AT, LAST, WORDS, FOUND, ROWS = range(6)
"""Columns of ``progress``: the current warp, the position of the last record read, the start of the last thread block
(the path's size if none), and the numbers of words, thread blocks and rows written.
"""
COLUMNS = 6

VISIT, VISIT_MASK = int(PathWord.VISIT), int(PathWord.VISIT_MASK)
NEXT_WARP, THREAD_BLOCK = int(PathWord.WARP), int(PathWord.THREAD_BLOCK)

Longs = NDArray[np.int64]
Words = NDArray[np.uint32]


def split(
    path: Words,
    progress: Longs,
    begins: Longs,
    words: Words,
    thread_blocks: Longs,
    rows: Longs,
    starts: Longs,
    stops: Longs,
    blocks: int,
) -> int:
    """Sort the thread blocks that begin in ``path``, except the last, which may continue in the next chunk.

    Each thread block receives its index and its first row.  Each of its warps has a row with start and stop in
    ``words``.  ``begins`` int64[REPLAY_SLOTS] is working storage, ``blocks`` the number of the kernel's basic blocks.
    Returns a status of :mod:`warpreg.counting.status`.
    """
    status = check(path, progress, blocks)
    if status != OK:
        return status
    progress[WORDS] = progress[FOUND] = progress[ROWS] = 0
    position = 0
    while position < progress[LAST]:
        found = progress[FOUND]
        thread_blocks[found] = path[position + 1]
        rows[found] = progress[ROWS]
        progress[FOUND] += 1
        end = count_words(path, position + 2, progress, begins)
        place_rows(progress, begins, starts, stops)
        sort_words(path, position + 2, end, progress, begins, words)
        position = end
    return OK


def check(path: Words, progress: Longs, blocks: int) -> int:
    """Check that these words are a path of a kernel with this number of basic blocks; find the start of the last thread
    block.
    """
    progress[LAST] = path.size
    position = 0
    while position < path.size:
        progress[AT] = position
        word = path[position]
        kind = word & 3
        if kind == THREAD_BLOCK:
            if word != THREAD_BLOCK:
                return BAD_THREAD_BLOCK
            progress[LAST] = position
        elif kind == NEXT_WARP:
            if word >> 2 >= REPLAY_SLOTS:
                return BAD_WARP
        elif word >> 2 >= blocks:
            return BAD_BLOCK
        position += 2 if kind & 1 else 1
    return OK if position == path.size else CUT


def count_words(path: Words, begin: int, progress: Longs, counts: Longs) -> int:
    """Count the words of each warp up to the next thread block; returns the start of that block."""
    counts[:] = 0
    warp = progress[WARP]
    position = begin
    while position < progress[LAST] and path[position] != THREAD_BLOCK:
        kind = path[position] & 3
        if kind == NEXT_WARP:
            warp = np.int64(path[position] >> 2)
        else:
            counts[warp] += 2 if kind == VISIT_MASK else 1
        position += 2 if kind & 1 else 1
    return position


def place_rows(progress: Longs, begins: Longs, starts: Longs, stops: Longs) -> None:
    """Make a row for each warp up to the last one with words; replaces the counts in ``begins`` by first positions."""
    warps = REPLAY_SLOTS
    while warps > 0 and begins[warps - 1] == 0:
        warps -= 1
    for warp in range(warps):
        row = progress[ROWS] + warp
        starts[row] = progress[WORDS]
        progress[WORDS] += begins[warp]
        stops[row] = progress[WORDS]
        begins[warp] = starts[row]
    progress[ROWS] += warps


def count_bytes(path: Words, warp: int, rows: Longs, first: Longs, counts: Longs) -> None:
    """By row, the widths of a sorted piece; ``first`` as in `warpreg.trace.widths.Places`, ``warp`` the current one."""
    position = block = 0
    while position < path.size:
        word: Any = np.int64(path[position])
        kind = word & 3
        if kind == THREAD_BLOCK:
            block += 1
        elif kind == NEXT_WARP:
            warp = word >> 2
        else:
            counts[rows[block - 1] + warp] += first[(word >> 2) + 1] - first[word >> 2]
        position += 2 if kind & 1 else 1


def sort_bytes(path: Words, warp: int, rows: Longs, first: Longs, widths: Any, places: Longs, out: Any) -> None:
    """Copy the widths of each visit to the place of its warp."""
    position = block = at = 0
    while position < path.size:
        word: Any = np.int64(path[position])
        kind = word & 3
        if kind == THREAD_BLOCK:
            block += 1
        elif kind == NEXT_WARP:
            warp = word >> 2
        else:
            row = rows[block - 1] + warp
            for _ in range(first[(word >> 2) + 1] - first[word >> 2]):
                out[places[row]] = widths[at]
                places[row] += 1
                at += 1
        position += 2 if kind & 1 else 1


def sort_words(path: Words, begin: int, end: int, progress: Longs, places: Longs, words: Words) -> None:
    """Copy each visit to the position of its warp."""
    position = begin
    while position < end:
        word = path[position]
        if word & 3 == NEXT_WARP:
            progress[WARP] = word >> 2
            position += 1
            continue
        warp = progress[WARP]
        words[places[warp]] = word
        places[warp] += 1
        position += 1
        if word & 3 == VISIT_MASK:
            words[places[warp]] = path[position]
            places[warp] += 1
            position += 1
