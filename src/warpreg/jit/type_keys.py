"""Type keys of arguments, cheaper than numba's types: values with equal keys share one compiled function."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

OWNS_DATA = 4
"""Bit of ``ndarray.flags.num`` that types do not depend on; the others are layout, alignment and writeability."""


def kind(value: Any) -> Hashable:
    """The key of an array, a number, or a tuple of them."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.num & ~OWNS_DATA
    if isinstance(value, tuple):
        return type(value), *map(kind, value)
    return type(value).__name__
