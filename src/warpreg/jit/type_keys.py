"""What numba would type a value as, told cheaply: equal kinds, one compiled function."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

OWNS_DATA = 4
"""Bit of ``ndarray.flags.num`` that types do not depend on; the others are layout, alignment, writing."""


def kind(value: Any) -> Hashable:
    """The kind of an array, a number, or a tuple of them."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.num & ~OWNS_DATA
    if isinstance(value, tuple):
        return type(value), *map(kind, value)
    return type(value).__name__
