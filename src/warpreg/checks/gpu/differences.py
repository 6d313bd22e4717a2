"""The difference of two contents of a buffer: how many elements differ, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """Elements of a buffer whose bits differ.

    ``absolute`` is the largest difference of two numbers, ``relative`` the largest one relative to the larger number;
    they are infinite where only one is a number, and 0 where both are NaNs of different bits.  ``first`` describes the
    first difference.
    """

    buffer: str
    elements: int
    differing: int
    absolute: float
    relative: float
    first: str


def difference(buffer: str, executor: Array, gpu: Array) -> Difference:
    """The difference of two arrays of the same shape and dtype."""
    x, y = executor.reshape(-1), gpu.reshape(-1)
    words = f"u{x.dtype.itemsize}" if x.dtype.itemsize in (1, 2, 4, 8) else f"V{x.dtype.itemsize}"
    differing = np.flatnonzero(x.view(words) != y.view(words))
    if not differing.size:
        return Difference(buffer, x.size, 0, 0.0, 0.0, "")
    at = int(differing[0])
    first = f"{buffer}[{at}]: executor {x[at]!r}, GPU {y[at]!r}"
    return Difference(buffer, x.size, differing.size, *_largest(x[differing], y[differing]), first)


def _largest(x: Array, y: Array) -> tuple[float, float]:
    """The largest absolute and relative difference."""
    if x.dtype.kind not in "iufb":
        return float("inf"), float("inf")
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.abs(a - b)
        relative = absolute / np.maximum(np.abs(a), np.abs(b))
    for found in (absolute, relative):
        found[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
        found[~np.isfinite(found)] = np.inf
    return float(absolute.max()), float(relative.max())
