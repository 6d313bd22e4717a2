"""Distinct paths of the warps of a run, and the number of warps that took each.

In most kernels, most warps take one of few paths.  Counts that depend on a single warp are computed once per path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled
from warpreg.counting.equal_warps import EMPTY, count_equal
from warpreg.counting.pieces import Piece, Splitter
from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.ir.kernel import Kernel
from warpreg.trace.expanded_path import expanded_path, expanded_words
from warpreg.trace.path import PathWord, RecordedPath
from warpreg.trace.widths import WidthReader, places

Words = NDArray[np.uint32]
Warp = tuple[bytes, bytes]
"""The words of its path, and the widths of what it wrote."""


@dataclass(frozen=True, slots=True, eq=False)
class DistinctWarps:
    """Distinct warp paths, grouped by the number of warps that took them.

    As a path, it contains each distinct warp path once.
    """

    parts: tuple[DistinctPart, ...]

    def path_chunks(self) -> Iterator[Words]:
        """Path words with each distinct warp path once."""
        for part in self.parts:
            yield part.words


@dataclass(frozen=True, slots=True, eq=False)
class DistinctPart:
    """Paths of equal weight: each stands for this number of warps.  ``words`` uint32; ``widths`` uint8, one per result
    row, empty if not requested.
    """

    warps: int
    words: Words
    widths: NDArray[np.uint8]

    def path_chunks(self) -> Iterator[Words]:
        yield self.words

    def width_chunks(self) -> Iterator[NDArray[np.uint8]]:
        yield self.widths


def distinct_warps(
    paths: Iterable[RecordedPath],
    blocks: int,
    mode: Mode = "compiled",
    widths_of: Kernel | None = None,
    patterns: bool = False,
) -> DistinctWarps:
    """Distinct warp paths of all ``paths`` of a kernel with this number of basic blocks.  With ``widths_of``, the
    kernel, warps whose values differ in width are distinct, and with ``patterns`` those whose values differ in
    pattern.  Raises ReplayError for an invalid path, TraceError
    for one without widths.
    """
    times: Counter[Warp] = Counter()
    for path in paths:
        for piece in Splitter(blocks, mode, _reader(path, widths_of, mode, patterns)).pieces(path.path_chunks()):
            for warp, count in _distinct(piece, mode):
                times[warp] += count
    by_times: dict[int, list[Warp]] = {}
    for warp, count in times.items():
        by_times.setdefault(count, []).append(warp)
    return DistinctWarps(tuple(_part(count, warps) for count, warps in sorted(by_times.items())))


def weighted(path: RecordedPath) -> Iterator[tuple[int, RecordedPath]]:
    """Parts of a path and the number of times that each counts."""
    if isinstance(path, DistinctWarps):
        yield from ((part.warps, part) for part in path.parts)
    else:
        yield 1, path


def _distinct(piece: Piece, mode: Mode) -> Iterator[tuple[Warp, int]]:
    """The distinct warps of a piece in order of occurrence, and how many there are of each."""
    times = np.zeros(piece.starts.size, np.int64)
    table = np.full(1 << int(piece.starts.size).bit_length(), EMPTY, np.int64)
    arguments = piece.words, piece.starts, piece.stops, piece.widths, piece.width_starts, table, times
    counting = count_equal if mode == "interpreted" else compiled(count_equal, arguments)
    counting(*arguments)
    for row in np.flatnonzero(times).tolist():
        words = piece.words[piece.starts[row] : piece.stops[row]]
        widths = piece.widths[piece.width_starts[row] : piece.width_starts[row + 1]]
        yield (words.tobytes(), widths.tobytes()), int(times[row])


def expanded(path: RecordedPath, recorded: Kernel, running: Kernel, mode: Mode = "compiled") -> RecordedPath:
    """The path of a run of ``recorded`` for the kernel that a design has made of it, with its blocks on edges."""
    if not isinstance(path, DistinctWarps) or len(running.blocks) == len(recorded.blocks):
        return expanded_path(path, recorded, running, mode)
    return DistinctWarps(tuple(_expanded_part(part, recorded, running, mode) for part in path.parts))


def _expanded_part(part: DistinctPart, recorded: Kernel, running: Kernel, mode: Mode) -> DistinctPart:
    return replace(part, words=np.concatenate([*expanded_words([part.words], recorded, running, mode)]))


def _reader(path: RecordedPath, kernel: Kernel | None, mode: Mode, patterns: bool) -> WidthReader | None:
    if kernel is None:
        return None
    return WidthReader(path, places(kernel, kernel), f"kernel {kernel.name}", mode, patterns)


def _part(count: int, warps: Sequence[Warp]) -> DistinctPart:
    """Path words of thread blocks with as many warps as allowed."""
    pieces = []
    for index, block in enumerate(_batches(warps)):
        pieces.append(np.array([PathWord.THREAD_BLOCK, index], np.uint32))
        for warp, (words, _) in enumerate(block):
            pieces += [np.array([PathWord.WARP | warp << 2], np.uint32), np.frombuffer(words, np.uint32)]
    widths = np.frombuffer(b"".join(widths for _, widths in warps), np.uint8)
    return DistinctPart(count, np.concatenate(pieces), widths)


def _batches(warps: Sequence[Warp]) -> Iterator[Sequence[Warp]]:
    for first in range(0, len(warps), REPLAY_SLOTS):
        yield warps[first : first + REPLAY_SLOTS]
