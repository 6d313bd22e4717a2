"""The different paths that warps of a run took, and how many took each.

Most kernels send most of their warps along few paths.  What depends on a warp alone is counted once for each of them.
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
    """Paths in which each different path of a warp stands once, by the number of warps that took it.

    It is a path of its own too: that of one warp of each kind.
    """

    parts: tuple[tuple[int, Words], ...]

    def path_chunks(self) -> Iterator[Words]:
        """One warp of each kind."""
        for _, words in self.parts:
            yield words


def distinct_warps(paths: Iterable[RecordedPath], blocks: int, mode: Mode = "compiled") -> DistinctWarps:
    """Of all these paths together, of a kernel with so many basic blocks.  Raises ReplayError for what is no path."""
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
    """Parts of a path and how often each counts."""
    if isinstance(path, DistinctWarps):
        yield from ((count, (words,)) for count, words in path.parts)
    else:
        yield 1, path.path_chunks()


def _path(warps: Sequence[bytes]) -> Words:
    """As thread blocks of as many warps as they may have."""
    pieces = []
    for index, block in enumerate(_batches(warps)):
        pieces.append(np.array([PathWord.THREAD_BLOCK, index], np.uint32))
        for warp, words in enumerate(block):
            pieces += [np.array([PathWord.WARP | warp << 2], np.uint32), np.frombuffer(words, np.uint32)]
    return np.concatenate(pieces)


def _batches(warps: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for first in range(0, len(warps), REPLAY_SLOTS):
        yield warps[first : first + REPLAY_SLOTS]
