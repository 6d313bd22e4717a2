"""The approximate instructions: the true value to double precision, and the error that PTX allows.

``TOLERANCE`` maps an opcode to (relative error, absolute error); a result passes if either bound holds. The bounds
are those that the PTX ISA states for each ``.approx`` form; ``sin`` and ``cos`` hold within [-2 pi, 2 pi].
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.reference import floats
from tests.reference.number import FORMATS, from_float, mask, to_float

TOLERANCE: dict[str, tuple[float, float]] = {
    "rcp": (2.0**-23, 0.0),
    "div": (2.0**-22, 0.0),
    "sqrt": (2.0**-23, 0.0),
    "rsqrt": (2.0**-22.9, 0.0),
    "ex2": (2.0**-22, 0.0),
    "lg2": (2.0**-22, 2.0**-22),
    "sin": (0.0, 2.0**-20.5),
    "cos": (0.0, 2.0**-20.5),
    "tanh": (2.0**-11, 0.0),
    "rcp64": (2.0**-19, 0.0),
    "rsqrt64": (2.0**-19, 0.0),
}
_DENORMAL = {32: 2.0**-149, 64: 5e-324}


def evaluate(opcode: str, bits: int, patterns: tuple[int, ...], flush: bool) -> int:
    """The correctly rounded result of an approximate instruction; ``flush`` is ``.ftz``.

    The f64 forms with ``.ftz`` read and write only the high 32 bits.
    """
    f = FORMATS[bits]
    kept = ~mask(32) if bits == 64 else ~0
    if flush:
        patterns = tuple(f.flush(p & kept) for p in patterns)
    out = _exactly_rounded(opcode, bits, patterns)
    return f.flush(out) & kept if flush else out


def _exactly_rounded(opcode: str, bits: int, patterns: tuple[int, ...]) -> int:
    f = FORMATS[bits]
    a = patterns[0]
    if opcode == "rcp":
        return floats.reciprocal(f, a, "rn")
    if opcode == "div":
        return floats.divide(f, a, patterns[1], "rn")
    if opcode == "sqrt":
        return floats.square_root(f, a, "rn")
    if f.is_nan(a):
        return f.nan
    if opcode == "rsqrt":
        return _reciprocal_root(bits, a)
    x = to_float(a, bits)
    if opcode == "ex2":
        result = math.inf if x > 1100 else 0.0 if x < -1200 else 2.0**x
    elif opcode == "lg2":
        result = -math.inf if x == 0 else math.nan if x < 0 else x if math.isinf(x) else math.log2(x)
    elif opcode == "tanh":
        result = math.tanh(x)
    elif math.isinf(x):
        result = math.nan
    else:
        result = {"sin": math.sin, "cos": math.cos}[opcode](x)
    return from_float(result, bits)


def _reciprocal_root(bits: int, a: int) -> int:
    f = FORMATS[bits]
    if f.is_zero(a):
        return f.signed_bits(f.sign(a), f.infinity)
    if f.sign(a):
        return f.nan
    if f.is_infinite(a):
        return 0
    return from_float(1 / math.sqrt(to_float(a, bits)), bits)


def is_bounded(kind: str, patterns: tuple[int, ...]) -> bool:
    """Whether PTX bounds the error for these operands."""
    a = patterns[0]
    if kind in ("sin", "cos"):
        return not 2 * math.pi < abs(to_float(a, 32)) < math.inf
    if kind == "div":
        size = abs(to_float(patterns[1], 32))
        return FORMATS[32].is_nan(a) or math.isnan(size) or 2.0**-126 <= size <= 2.0**126
    return True


def agree(kind: str, got: int, expected: int) -> bool:
    """Whether two patterns are the same special value or lie within the tolerance of ``kind`` (a key of TOLERANCE)."""
    bits = 64 if kind.endswith("64") else 32
    f = FORMATS[bits]
    if f.is_nan(got) or f.is_nan(expected):
        return f.is_nan(got) and f.is_nan(expected)
    if f.is_infinite(got) or f.is_infinite(expected):
        return got == expected
    if f.is_zero(expected) and f.is_zero(got):
        return f.sign(got) == f.sign(expected)
    x, y = Fraction(to_float(got, bits)), Fraction(to_float(expected, bits))
    relative, absolute = TOLERANCE[kind]
    slack = Fraction(_DENORMAL[bits]) + abs(y) * Fraction(2) ** (-24 if bits == 32 else -53)
    return abs(x - y) <= max(Fraction(relative) * abs(y), Fraction(absolute)) + slack
