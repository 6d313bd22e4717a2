"""The pattern of a register by its definition, in Python integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from warpreg.trace.patterns import Deltas, Shape, encoded

WORD = 1 << 32
HALF = 16
STRIDES = {0: Shape.CONSTANT, 1: Shape.STRIDE_1, 4: Shape.STRIDE_4}
HALVES = {0: Shape.HALVES_CONSTANT, 1: Shape.HALVES_STRIDE_1, 4: Shape.HALVES_STRIDE_4}


def pattern_by_definition(lanes: Sequence[int], is_partial: bool = False) -> int:
    """Of the lanes that have a thread, unsigned."""
    return encoded(shape_of(lanes), deltas_of(lanes), is_partial)


def shape_of(lanes: Sequence[int]) -> Shape:
    strides = _strides(lanes)
    if len(strides) <= 1:
        return STRIDES.get(min(strides, default=0), Shape.STRIDE)
    low, high = _strides(lanes[:HALF]), _strides(lanes[HALF:])
    if len(low) == 1 and high <= low:
        return HALVES.get(min(low), Shape.UNEVEN)
    return Shape.UNEVEN


def deltas_of(lanes: Sequence[int]) -> Deltas:
    deltas = [(lane - lanes[0] + WORD // 2) % WORD - WORD // 2 for lane in lanes]
    if not any(deltas):
        return Deltas.NONE
    for deltas_, bytes_ in ((Deltas.ONE, 1), (Deltas.TWO, 2)):
        if all(-(1 << 8 * bytes_ - 1) <= delta < 1 << 8 * bytes_ - 1 for delta in deltas):
            return deltas_
    return Deltas.FOUR


def _strides(lanes: Sequence[int]) -> set[int]:
    return {(after - before) % WORD for before, after in pairwise(lanes)}
