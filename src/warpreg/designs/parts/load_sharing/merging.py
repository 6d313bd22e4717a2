"""Partial sharing: registers that together hold what a load asks for, once their lanes are shifted (thesis §5.3.2).

A register with the same stride whose base lies ``k`` strides below that of a load holds in lane ``i + k`` what lane
``i`` of the load needs: it is shifted down by ``k`` lanes; with negative ``k`` up.

A state that uses it has the fields of `address_table` and, per SM, ``near`` [row, column], scratch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.noinline import noinline
from warpreg.designs.parts.load_sharing.address_table import THREADS, first_at, found_lanes, has_line, next_at
from warpreg.designs.parts.load_sharing.columns import NONE

REGISTER, SHIFT, HOLDS = range(3)
FULL = (1 << THREADS) - 1
NEAR = 64
"""Most registers that a search looks at; two are chosen."""


def nothing_near() -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field."""
    return {"near": np.zeros((NEAR, 3), np.int64)}


def shifted(lanes: int, shift: int) -> int:
    """A mask of lanes moved down by ``shift`` lanes; up where it is negative."""
    return lanes >> shift if shift >= 0 else lanes << -shift & FULL


@noinline
def cover(state: Any, sm: int, base: int, stride: int, lanes: int) -> int:
    """How many registers cover the lanes of a load, 1 or 2; the first rows of ``near`` name them.  0 if none do.

    Among several, those win that are shifted up furthest.
    """
    if stride == 0 or not _may_cover(state, sm, base, stride, lanes):
        return 0
    count = _search(state, sm, base, stride, lanes)
    for first in range(count):
        if lanes & ~state.near[sm, first, HOLDS] == 0:
            _swap(state, sm, 0, first)
            return 1
    for first in range(count):
        left = lanes & ~state.near[sm, first, HOLDS]
        for second in range(first + 1, count):
            if left & ~state.near[sm, second, HOLDS] == 0:
                _swap(state, sm, 0, first)
                _swap(state, sm, 1, second)
                return 2
    return 0


def _may_cover(state: Any, sm: int, base: int, stride: int, lanes: int) -> bool:
    """Whether the table may have the words of the first and the last lane."""
    first, last = 0, THREADS - 1
    while lanes >> first & 1 == 0:
        first += 1
    while lanes >> last & 1 == 0:
        last -= 1
    return has_line(state, sm, base + first * stride) and has_line(state, sm, base + last * stride)


def _search(state: Any, sm: int, base: int, stride: int, lanes: int) -> int:
    """Collect the entries with this stride that hold some of the lanes."""
    count = 0
    for shift in range(1 - THREADS, THREADS):
        register: int = first_at(state, sm, base - shift * stride, stride)
        while register != NONE and count < NEAR:
            holds = shifted(found_lanes(state, sm, register), shift) & lanes
            if holds:
                state.near[sm, count, REGISTER] = register
                state.near[sm, count, SHIFT] = shift
                state.near[sm, count, HOLDS] = holds
                count += 1
            register = next_at(state, sm, register)
    return count


def _swap(state: Any, sm: int, one: int, other: int) -> None:
    for column in range(3):
        kept = state.near[sm, one, column]
        state.near[sm, one, column] = state.near[sm, other, column]
        state.near[sm, other, column] = kept
