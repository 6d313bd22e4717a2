"""A kernel with the recorded paths and memory accesses of its warps, written by hand or drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.timing.reference.instruction import Access

from warpreg.ir.kernel import Kernel

FULL = 0xFFFFFFFF
SPACES = ("global", "shared", "local", "texture", "constant")


@dataclass(frozen=True)
class WarpPath:
    """``visits`` are (block, mask); ``accesses`` has a record for each memory instruction on them, in order."""

    visits: tuple[tuple[int, int], ...]
    accesses: tuple[Access, ...] = ()


@dataclass(frozen=True)
class Launched:
    """``blocks``: by thread block, by warp."""

    kernel: Kernel
    blocks: tuple[tuple[WarpPath, ...], ...]

    def arrays(self) -> list[tuple[NDArray[np.int64], ...]]:
        """By thread block: visits, visit_start, accesses, access_start as docs/timing.md describes them."""
        return [_arrays(block) for block in self.blocks]


def _arrays(block: tuple[WarpPath, ...]) -> tuple[NDArray[np.int64], ...]:
    visits = [[block << 32 | mask for block, mask in warp.visits] for warp in block]
    accesses = [[word for access in warp.accesses for word in _record(access)] for warp in block]
    return (*_joined(visits), *_joined(accesses))


def _joined(rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    words = np.array([word for row in rows for word in row], np.int64)
    starts = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return words, starts


def _record(access: Access) -> list[int]:
    counted = access.space in ("shared", "constant")
    count = access.degree if counted else len(access.transactions)
    head = access.mask | SPACES.index(access.space) << 32 | count << 40
    words = [] if counted else [line | sectors for line, sectors in access.transactions]
    return [head, access.base, access.stride, *words]
