"""Inputs and NumPy references of the kernels in ``kernels.py``.

Numba passes an array as owner and parent of its memory (unused), number of elements, bytes per element, address,
extents and strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.foreign.case import Case


def descriptor(array: NDArray[Any]) -> tuple[Any, ...]:
    return (0, 0, array.size, array.itemsize, array, *array.shape, *array.strides)


def launch(grid: Any, block: Any, out: NDArray[Any], *arguments: Any, ulps: int = 0) -> Case:
    """``out`` is what the last array, zeros before, must hold."""
    flat: list[Any] = []
    for argument in (*arguments, np.zeros_like(out)):
        flat += descriptor(argument) if isinstance(argument, np.ndarray) else [argument]
    place = max(i for i, argument in enumerate(flat) if isinstance(argument, np.ndarray))
    return Case(grid, block, tuple(flat), {place: out}, ulps)


def scaled_sum(rng: np.random.Generator) -> Case:
    x, y = rng.random((2, 100), np.float32)
    return launch(4, 32, (np.float64(1.5) * x + y).astype(np.float32), 1.5, x, y, ulps=1)


def mean_filter(rng: np.random.Generator) -> Case:
    image = rng.random((9, 14), np.float32)
    rows, columns = image.shape
    near = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)]
    padded, inside = np.pad(image.astype(np.float64), 1), np.pad(np.ones((rows, columns)), 1)
    sums = sum(padded[1 + r : 1 + r + rows, 1 + c : 1 + c + columns] for r, c in near)
    counts = sum(inside[1 + r : 1 + r + rows, 1 + c : 1 + c + columns] for r, c in near)
    return launch((2, 2), (8, 8), np.asarray(sums / counts, np.float32), image, ulps=1)


def block_maximum(rng: np.random.Generator) -> Case:
    x = rng.integers(1, 10**9, 150).astype(np.int32)
    return launch(3, 64, x.max()[None], x)


def histogram(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 256, 500).astype(np.uint8)
    return launch(2, 64, np.bincount(x >> 4, minlength=16).astype(np.int64), x)


def distances(rng: np.random.Generator) -> Case:
    points = rng.random((20, 3))
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    return launch(1, 32, apart.min(axis=1), points, ulps=4)


CASES: dict[str, Any] = {c.__name__: c for c in (scaled_sum, mean_filter, block_maximum, histogram, distances)}
