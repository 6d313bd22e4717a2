"""Sets of up to 64 small numbers as the bits of an int64: ready warps, collectors, banks.

The core compiles `lowest` and `count` as single machine instructions (see `natives`); these are the plain ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ONE: Any = np.int64(1)
ALL: Any = np.int64(-1)
ALL_BUT_0: Any = np.int64(-2)
_WORD = (1 << 64) - 1


def bit(index: int) -> int:
    """The set of one number."""
    result: int = ONE << index
    return result


def lowest(bits: int) -> int:
    """The smallest number of a set that is not empty."""
    word = int(bits) & _WORD
    return (word & -word).bit_length() - 1


def count(bits: int) -> int:
    """How many numbers are in a set."""
    return (int(bits) & _WORD).bit_count()


def round_from(bits: int, index: int) -> int:
    """The first number of a set that is not empty, going up from ``index`` and round."""
    above = bits & (ALL << index)
    return lowest(above if above != 0 else bits)


def round_after(bits: int, index: int) -> int:
    """The same, going up from the number after ``index``."""
    above = bits & (ALL_BUT_0 << index)
    return lowest(above if above != 0 else bits)
