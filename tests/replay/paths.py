"""Recorded paths written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.path import PathWord

FULL = 0xFFFFFFFF


class Recorded:
    """A path under construction: ``Recorded().thread_block(0).warp(0).visits(0, 1)``; ``cut`` starts a new chunk."""

    def __init__(self) -> None:
        self._chunks: list[list[int]] = [[]]
        self._widths: list[int] = []

    def thread_block(self, index: int = 0) -> Recorded:
        return self._add(PathWord.THREAD_BLOCK, index)

    def warp(self, index: int) -> Recorded:
        return self._add(index << 2 | PathWord.WARP)

    def visits(self, *blocks: int, mask: int | None = FULL) -> Recorded:
        """Visit blocks in order, the first with ``mask`` spelt out unless None."""
        for position, block in enumerate(blocks):
            spelt = mask is not None and position == 0
            self._add(*((block << 2 | PathWord.VISIT_MASK, mask or 0) if spelt else (block << 2 | PathWord.VISIT,)))
        return self

    def widths(self, *widths: int) -> Recorded:
        """The next result words that are written have these widths."""
        self._widths.extend(widths)
        return self

    def width_chunks(self) -> Iterator[NDArray[np.uint8]]:
        """In small chunks."""
        return (np.array(self._widths[at : at + 3], np.uint8) for at in range(0, len(self._widths), 3))

    def cut(self) -> Recorded:
        self._chunks.append([])
        return self

    def words(self, *words: int) -> Recorded:
        """Words as they are, right or wrong."""
        return self._add(*words)

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """What replay reads."""
        return (np.array(chunk, np.uint32) for chunk in self._chunks)

    def _add(self, *words: int) -> Recorded:
        self._chunks[-1].extend(words)
        return self


def one_warp(blocks: Iterable[int]) -> Recorded:
    """The path of a single warp with all lanes on."""
    return Recorded().thread_block().warp(0).visits(*blocks)
