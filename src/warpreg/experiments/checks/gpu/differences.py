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

    ``relative`` is the largest difference of two numbers, relative to the larger one; it is infinite where only one is
    a number, and 0 where both are NaNs of different bits.  ``first`` describes the first difference.
    """

    buffer: str
    elements: int
    differing: int
    relative: float
    first: str


def difference(buffer: str, executor: Array, gpu: Array) -> Difference:
    """The difference of two arrays of the same shape and dtype."""
    x, y = executor.reshape(-1), gpu.reshape(-1)
    words = f"u{x.dtype.itemsize}" if x.dtype.itemsize in (1, 2, 4, 8) else f"V{x.dtype.itemsize}"
    differing = np.flatnonzero(x.view(words) != y.view(words))
    if not differing.size:
        return Difference(buffer, x.size, 0, 0.0, "")
    at = int(differing[0])
    first = f"{buffer}[{at}]: executor {x[at]!r}, GPU {y[at]!r}"
    return Difference(buffer, x.size, differing.size, _relative(x[differing], y[differing]), first)


def _relative(x: Array, y: Array) -> float:
    if x.dtype.kind not in "iufb":
        return float("inf")
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = np.abs(a - b) / np.maximum(np.abs(a), np.abs(b))
    found[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
    found[~np.isfinite(found)] = np.inf
    return float(found.max())
