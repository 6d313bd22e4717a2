"""Patterns of values: what the lanes of a written warp-register have in common, as compressors of registers see it.

A pattern says three things about a register of 32 bits a lane, directly after an instruction has written it:

- its *shape*: whether the step from lane to lane is the same everywhere (`Shape`);
- its *deltas*: the bytes that hold the difference between each lane and the first one, sign-extended.  These are the
  choices <4,0>, <4,1> and <4,2> of base-delta-immediate compression with a base of 4 bytes (Pekhimenko et al., PACT
  2012, section 4; Lee et al., ISCA 2015); 4 bytes mean that it does not fit;
- whether the write is *partial*: it leaves out a lane that has a thread, which keeps its old content.

Shape and deltas are those of all lanes that have a thread, written or not: of the register as it is read next.  Lanes
without a thread, in the last warp of a thread block, fit any pattern.  Differences are modulo 2^32.

A run records one byte a result word, ``width + 4 * pattern``; 4 or less is a width without a pattern.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAST_WIDTH = 4
"""The largest width in bytes, and so the largest byte without a pattern."""
DELTAS_AT = 3
PARTIAL_AT = 5


class Shape(enum.IntEnum):
    """Steps from lane to lane.  The first that holds, in the order 0 to 7."""

    CONSTANT = 0
    """All lanes are equal."""
    STRIDE_1 = 1
    """Lane i holds the first one's value + i."""
    STRIDE_4 = 2
    """+ 4 i."""
    STRIDE = 3
    """+ s i, with another s."""
    HALVES_CONSTANT = 4
    """Lanes 0 to 15 are equal, and lanes 16 to 31."""
    HALVES_STRIDE_1 = 5
    """Stride 1 in either half, each from its own first lane."""
    HALVES_STRIDE_4 = 6
    """Stride 4 in either half."""
    UNEVEN = 7
    """None of these."""


class Deltas(enum.IntEnum):
    """Bytes of the differences to the first lane; ``NONE``, no byte, is that of constants alone."""

    ONE = 0
    TWO = 1
    FOUR = 2
    NONE = 3


def encoded(shape: Shape, deltas: Deltas, partial: bool = False) -> int:
    """A pattern, 1 to 62.  0 and 63 stand for none: a constant has no deltas, and nothing else has none."""
    return shape | deltas << DELTAS_AT | int(partial) << PARTIAL_AT


UNKNOWN_PATTERN = encoded(Shape.UNEVEN, Deltas.FOUR, partial=True)
"""Pattern of a value of which nothing is recorded."""


def with_pattern(width: int, pattern: int) -> int:
    """The byte that is recorded."""
    return width + 4 * pattern


def width_of(byte: Any) -> Any:
    """The width in a recorded byte, 1 to 4."""
    return (byte - 1 & 3) + 1


def pattern_of(byte: Any) -> Any:
    """The pattern in a recorded byte, 0 without one."""
    return byte - 1 >> 2


def have_patterns(recorded: NDArray[np.uint8]) -> bool:
    """Whether all of these bytes, at least one, have a pattern."""
    return bool(recorded.min() > LAST_WIDTH)
