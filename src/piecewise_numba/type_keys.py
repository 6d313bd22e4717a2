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


def spelled(value: Any) -> Hashable:
    """What compiled code depends on of a value's type, as text that is equal in every process."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        element = value.dtype.str if value.dtype.names is None else repr(value.dtype.descr)
        return element, value.ndim, layout, flags.writeable, flags.aligned
    if isinstance(value, tuple):
        return type(value).__name__, getattr(value, "_fields", ()), *map(spelled, value)
    return type(value).__name__
