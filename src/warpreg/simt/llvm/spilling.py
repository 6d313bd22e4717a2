"""Vectors in stack memory, whose lanes are accessed by a variable index."""

from __future__ import annotations

from warpreg.simt.llvm.emitter import LANES, Code, Value

PIECE = 32
"""Bytes in which a vector is stored whose lanes are loaded one by one soon: loads from a store of 64 bytes that has not
reached the cache are slower on an Intel Xeon."""


def spilled(code: Code, vector: Value) -> Value:
    """The stack address of a vector, so that lanes can be accessed by a variable index."""
    array = code.array(vector.type.element, LANES)
    width = vector.type.element.width
    lanes = min(LANES, 8 * PIECE // width)
    for first in range(0, LANES, lanes):
        (array + first * width // 8).store(vector.part(first, lanes), align=PIECE)
    return array
