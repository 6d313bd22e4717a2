"""What a pattern of a value says, for hooks (`warpreg.trace.patterns` defines it)."""

from __future__ import annotations

from warpreg.trace.patterns import DELTAS_AT, PARTIAL_AT, Deltas, Shape

CONSTANT, STRIDE_1, STRIDE_4, STRIDE, HALVES_CONSTANT, HALVES_STRIDE_1, HALVES_STRIDE_4, UNEVEN = map(int, Shape)
"""The shapes, as `shape_of` returns them."""

_SHAPES = (1 << DELTAS_AT) - 1
_NONE, _ONE, _TWO = int(Deltas.NONE), int(Deltas.ONE), int(Deltas.TWO)


def shape_of(pattern: int) -> int:
    """``CONSTANT``, ``STRIDE_1``, ``STRIDE_4``, ``STRIDE`` (another one), ``HALVES_CONSTANT``, ``HALVES_STRIDE_1``,
    ``HALVES_STRIDE_4`` (either half of the warp from a base of its own) or ``UNEVEN``: the first that holds.
    """
    return pattern & _SHAPES


def delta_bytes(pattern: int) -> int:
    """Bytes of the difference of every lane to the first one, sign-extended: 0 (all are equal), 1, 2 or 4."""
    deltas = pattern >> DELTAS_AT & 3
    if deltas == _NONE:
        return 0
    if deltas == _ONE:
        return 1
    return 2 if deltas == _TWO else 4


def is_partial(pattern: int) -> bool:
    """Whether the instruction leaves out a lane that has a thread; it keeps its old content."""
    return pattern >> PARTIAL_AT != 0
