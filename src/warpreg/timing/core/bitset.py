"""Sets of small numbers (0 to 63) as the bits of an int64: ready warps, collectors, banks.

In compiled code, `lowest` and `count` are single machine instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piecewise_numba.natives import native
from warpreg.timing.core import intrinsics

ONE: Any = np.int64(1)
ALL: Any = np.int64(-1)
ALL_BUT_0: Any = np.int64(-2)
_WORD = (1 << 64) - 1


def bit(index: int) -> int:
    """The set that contains only ``index``."""
    result: int = ONE << index
    return result


@native(intrinsics.lowest)
def lowest(bits: int) -> int:
    """The smallest member of a non-empty set."""
    word = int(bits) & _WORD
    return (word & -word).bit_length() - 1


@native(intrinsics.count)
def count(bits: int) -> int:
    """Number of members."""
    return (int(bits) & _WORD).bit_count()


def round_from(bits: int, index: int) -> int:
    """The first member of a non-empty set at or after ``index``, wrapping around."""
    above = bits & (ALL << index)
    return lowest(above if above != 0 else bits)


def round_after(bits: int, index: int) -> int:
    """The first member of a non-empty set after ``index``, wrapping around."""
    above = bits & (ALL_BUT_0 << index)
    return lowest(above if above != 0 else bits)
