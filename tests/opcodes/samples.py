"""Sample lane values: edges of each width first, then random ones from a fixed seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

LANES = 32
F32_EDGES = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000,
    0xBF800000, 0x3F800001, 0x3F000000, 0x3FC00000, 0x40200000, 0xC0200000, 0x4B7FFFFF, 0x4F000000, 0xCF000000,
    0x4F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x40490FDB,
    0x3EAAAAAB, 0x5F000000, 0xDF000000, 0x00400000, 0x1F800000,
)  # fmt: skip
"""Zeros, subnormals, powers of two, ties, integer limits, the largest numbers, infinities and NaNs."""
F64_EDGES = (
    0x0, 0x8000000000000000, 0x1, 0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000,
    0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001, 0x3FE0000000000000, 0x4004000000000000,
    0xC004000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0xC1E0000000200000, 0x43E0000000000000,
    0xC3E0000000000000, 0x43F0000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0xFFF0000000000001, 0x36A0000000000000, 0x3690000000000001,
    0x380FFFFFE0000000, 0x47EFFFFFF0000000, 0x47EFFFFFEFFFFFFF, 0x400921FB54442D18, 0x3FD5555555555555,
)  # fmt: skip
"""As F32_EDGES, with the limits of single precision and of 32-bit integers."""


def integer_edges(bits: int) -> tuple[int, ...]:
    top = 1 << bits - 1
    return (
        0,
        1,
        2,
        3,
        7,
        10,
        bits - 1,
        bits,
        bits + 1,
        top - 1,
        top,
        top + 1,
        2 * top - 1,
        2 * top - 2,
        2 * top // 3,
        0x55,
    )


def edges(kind: str) -> tuple[int, ...]:
    """``kind`` is a width of integers (``32``) or ``f32`` or ``f64``."""
    if kind == "f32":
        return F32_EDGES
    return F64_EDGES if kind == "f64" else integer_edges(int(kind))


def random_value(kind: str, source: random.Random) -> int:
    """Integers of all magnitudes; floating-point numbers within 30 powers of two of 1, and any bits now and then."""
    if not kind.startswith("f"):
        return source.getrandbits(source.randint(1, int(kind)))
    bits = int(kind[1:])
    if source.random() < 0.2:
        return source.getrandbits(bits)
    mantissa, bias = (23, 127) if bits == 32 else (52, 1023)
    exponent = bias + source.randint(-15, 15)
    return source.getrandbits(1) << bits - 1 | exponent << mantissa | source.getrandbits(mantissa)


def chunked(columns: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Columns of equal length cut into lots of 32 lanes, the last filled up by repetition."""
    length = len(columns[0])
    lots = range(0, length, LANES)
    return [[[column[(at + lane) % length] for lane in range(LANES)] for column in columns] for at in lots]


def tuples(kinds: Sequence[str], lots: int = 12, seed: int = 7) -> list[list[list[int]]]:
    """Sources for operands of these kinds: combinations of edges (all pairs if they fit half the lots), then random
    ones."""
    source = random.Random(f"{seed}{kinds}")
    wanted = lots * LANES
    combinations = list(itertools.product(*(edges(kind) for kind in kinds)))
    rows = source.sample(combinations, min(len(combinations), wanted // 2))
    rows += [tuple(random_value(kind, source) for kind in kinds) for _ in range(wanted - len(rows))]
    return chunked(list(zip(*rows, strict=True)))
