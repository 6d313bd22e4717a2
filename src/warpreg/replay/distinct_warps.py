"""Distinct paths of the warps of a run, and the number of warps that took each.

In most kernels, most warps take one of few paths.  Counts that depend on a single warp are computed once per path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.jit.options import Mode
from warpreg.replay.warp_streams import Splitter
from warpreg.trace.path import PathWord, RecordedPath

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctWarps:
    """Distinct warp paths, grouped by the number of warps that took them.

    As a path, it contains each distinct warp path once.
    """

    parts: tuple[tuple[int, Words], ...]

    def path_chunks(self) -> Iterator[Words]:
        """Path words with each distinct warp path once."""
        for _, words in self.parts:
            yield words


def distinct_warps(paths: Iterable[RecordedPath], blocks: int, mode: Mode = "compiled") -> DistinctWarps:
    """Distinct warp paths of all ``paths`` of a kernel with this number of basic blocks.  Raises ReplayError for an
    invalid path.
    """
    times: Counter[bytes] = Counter()
    for path in paths:
        for piece in Splitter(blocks, mode).pieces(path.path_chunks()):
            content = piece.words.tobytes()
            places = zip((piece.starts * 4).tolist(), (piece.stops * 4).tolist(), strict=True)
            times.update(content[start:stop] for start, stop in places if stop > start)
    by_times: dict[int, list[bytes]] = {}
    for warp, count in times.items():
        by_times.setdefault(count, []).append(warp)
    return DistinctWarps(tuple((count, _path(warps)) for count, warps in sorted(by_times.items())))


def weighted(path: RecordedPath) -> Iterator[tuple[int, Iterable[Words]]]:
    """Parts of a path and the number of times that each counts."""
    if isinstance(path, DistinctWarps):
        yield from ((count, (words,)) for count, words in path.parts)
    else:
        yield 1, path.path_chunks()


def _path(warps: Sequence[bytes]) -> Words:
    """Path words of thread blocks with as many warps as allowed."""
    pieces = []
    for index, block in enumerate(_batches(warps)):
        pieces.append(np.array([PathWord.THREAD_BLOCK, index], np.uint32))
        for warp, words in enumerate(block):
            pieces += [np.array([PathWord.WARP | warp << 2], np.uint32), np.frombuffer(words, np.uint32)]
    return np.concatenate(pieces)


def _batches(warps: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for first in range(0, len(warps), REPLAY_SLOTS):
        yield warps[first : first + REPLAY_SLOTS]
