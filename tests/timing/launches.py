"""A kernel with the paths and memory accesses of its warps: written by hand, random, or recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tests.timing.reference.instruction import Access

from warpreg.ir.kernel import Kernel
from warpreg.timing.core.access_record import HEADER_WORDS, IRREGULAR, SPACE_SHIFT, TRANSACTIONS_SHIFT
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.trace.patterns import Deltas, Shape, encoded, with_pattern
from warpreg.trace.widths import words_written

FULL = 0xFFFFFFFF
SPACES = ("global", "shared", "local", "texture", "constant")
COUNTED = ("shared", "constant")
"""Spaces whose records have a degree and no transactions."""


@dataclass(frozen=True)
class WarpPath:
    """``visits`` are (block, mask); ``accesses`` has a record for each memory instruction on them, in order; ``widths``
    has one of each result word, or none.
    """

    visits: tuple[tuple[int, int], ...]
    accesses: tuple[Access, ...] = ()
    widths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Launched:
    """``blocks``: by thread block, by warp."""

    kernel: Kernel
    blocks: tuple[tuple[WarpPath, ...], ...]

    def batches(self, size: int = 2, lanes: bool = False) -> Iterator[ThreadBlocks]:
        """What the feed gives the core, ``size`` thread blocks at a time, with addresses of ``lanes`` or without."""
        for first in range(0, len(self.blocks), size):
            rows = [warp for block in self.blocks[first : first + size] for warp in block]
            visits = [[block << 32 | mask for block, mask in warp.visits] for warp in rows]
            accesses = [[word for access in warp.accesses for word in _record(access, lanes)] for warp in rows]
            batch = ThreadBlocks(first, len(self.blocks[0]), *_joined(visits), *_joined(accesses))
            if any(warp.widths for block in self.blocks for warp in block):
                widths, start = _joined([list(warp.widths) for warp in rows])
                batch = replace(batch, widths=widths.astype(np.uint8), width_start=start)
            yield batch

    def with_widths(self, seed: int) -> Launched:
        """The same with widths of all results, drawn at random."""
        return self._with_bytes(seed, [1, 2, 3, 4])

    def with_patterns(self, seed: int) -> Launched:
        """The same with widths and patterns of all results, drawn at random."""
        kinds = [(Shape.CONSTANT, Deltas.NONE), *((Shape.UNEVEN, one) for one in (Deltas.ONE, Deltas.TWO, Deltas.FOUR))]
        patterns = [encoded(*kind, is_partial) for kind in kinds for is_partial in (False, True)]
        return self._with_bytes(seed, [with_pattern(4, one) for one in patterns])

    def _with_bytes(self, seed: int, choice: list[int]) -> Launched:
        numbers = np.random.default_rng(seed)
        return replace(self, blocks=tuple(tuple(self._told(warp, numbers, choice) for warp in b) for b in self.blocks))

    def _told(self, warp: WarpPath, numbers: np.random.Generator, choice: list[int]) -> WarpPath:
        results = [sum(map(words_written, block.instructions)) for block in self.kernel.blocks]
        count = sum(results[block] for block, _ in warp.visits)
        return replace(warp, widths=tuple(numbers.choice(choice, count).tolist()))


def recorded(kernel: Kernel, batches: Iterable[ThreadBlocks], lanes: bool = False) -> Launched:
    """What the feed gives of a recorded run, with addresses of ``lanes`` or without."""
    return Launched(kernel, tuple(block for batch in batches for block in _blocks(batch, lanes)))


def _blocks(batch: ThreadBlocks, lanes: bool) -> Iterator[tuple[WarpPath, ...]]:
    for block in range(batch.count):
        rows = range(block * batch.warps, (block + 1) * batch.warps)
        yield tuple(_warp(batch, row, lanes) for row in rows)


def _warp(batch: ThreadBlocks, row: int, has_lanes: bool) -> WarpPath:
    visits = batch.visits[batch.visit_start[row] : batch.visit_start[row + 1]].tolist()
    words = batch.accesses[batch.access_start[row] : batch.access_start[row + 1]].tolist()
    accesses = []
    while words:
        head, base, stride = words[:HEADER_WORDS]
        space, count = SPACES[head >> SPACE_SHIFT & 0xFF], head >> TRANSACTIONS_SHIFT
        lines = 0 if space in COUNTED else count
        lanes = (head & FULL).bit_count() if has_lanes and lines and stride == IRREGULAR else 0
        transactions = tuple((word & ~15, word & 15) for word in words[HEADER_WORDS : HEADER_WORDS + lines])
        degree = count if space in COUNTED else 0
        addresses = tuple(words[HEADER_WORDS + lines : HEADER_WORDS + lines + lanes])
        accesses.append(Access(head & FULL, space, degree, transactions, base, stride, addresses))
        del words[: HEADER_WORDS + lines + lanes]
    return WarpPath(tuple((visit >> 32, visit & FULL) for visit in visits), tuple(accesses))


def _joined(rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    words = np.array([word for row in rows for word in row], np.int64)
    starts = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return words, starts


def _record(access: Access, lanes: bool) -> list[int]:
    count = access.degree if access.space in COUNTED else len(access.transactions)
    head = access.mask | SPACES.index(access.space) << SPACE_SHIFT | count << TRANSACTIONS_SHIFT
    lines = [line | sectors for line, sectors in access.transactions]
    return [head, access.base, access.stride, *lines, *(access.lanes if lanes else ())]
