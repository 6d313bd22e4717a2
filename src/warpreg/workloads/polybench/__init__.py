"""Workloads after PolyBench-GPU: plain loop nests, one thread per element, blocks of 32 x 8 threads."""

from __future__ import annotations

import numpy as np

from warpreg.workloads.workload import Array, blocks

BLOCK = (32, 8)
"""Threads of a block along columns and rows."""


def random_matrix(rng: np.random.Generator, *shape: int) -> Array:
    """float32 of that shape, uniform in [0, 1)."""
    return rng.random(shape, dtype=np.float32)


def grid(rows: int, cols: int) -> tuple[int, int]:
    """The blocks that cover a matrix."""
    return blocks(cols, BLOCK[0]), blocks(rows, BLOCK[1])
