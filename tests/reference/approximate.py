"""The approximate instructions: the true value to double precision, and the error that PTX allows.

``TOLERANCE`` maps an opcode to (relative error, absolute error); a result passes if either bound holds. The bounds
are those that the PTX ISA states for each ``.approx`` form; ``sin`` and ``cos`` hold within [-2 pi, 2 pi].
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.reference import floats
from tests.reference.number import FORMATS, Format, from_float, mask, to_float

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
    "ex2f16": (2.0**-9.9, 0.0),
    "ex2bf16": (2.0**-7, 0.0),
    "tanhf16": (0.0, 2.0**-10.987),
    "tanhbf16": (0.0, 2.0**-8),
}


def kind_of(text: str) -> str:
    """The key of TOLERANCE of a full opcode, or nothing if it is exact."""
    opcode, *modifiers = text.split(".")
    if not {"approx", "full"} & set(modifiers):
        return ""
    return opcode + {"f32": "", "f64": "64"}.get(modifiers[-1], modifiers[-1].removesuffix("x2"))


def evaluate(opcode: str, name: str, patterns: tuple[int, ...], flush: bool) -> int:
    """The correctly rounded result of an approximate instruction; ``flush`` is ``.ftz``.

    The f64 forms with ``.ftz`` read and write only the high 32 bits.
    """
    f = FORMATS[name]
    kept = ~mask(32) if name == "f64" else ~0
    if flush:
        patterns = tuple(f.flush(p & kept) for p in patterns)
    out = _exactly_rounded(opcode, f, patterns)
    return f.flush(out) & kept if flush else out


def _exactly_rounded(opcode: str, f: Format, patterns: tuple[int, ...]) -> int:
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
        return _reciprocal_root(f, a)
    x = number_of(f, a)
    if opcode == "ex2":
        result = math.inf if x >= 1024 else 0.0 if x < -1074 else 2.0**x
    elif opcode == "lg2":
        result = -math.inf if x == 0 else math.nan if x < 0 else x if math.isinf(x) else math.log2(x)
    elif opcode == "tanh":
        result = math.tanh(x)
    elif math.isinf(x):
        result = math.nan
    else:
        result = {"sin": math.sin, "cos": math.cos}[opcode](x)
    return rounded(f, result)


def _reciprocal_root(f: Format, a: int) -> int:
    if f.is_zero(a):
        return f.signed_bits(f.sign(a), f.infinity)
    if f.sign(a):
        return f.nan
    if f.is_infinite(a):
        return 0
    return rounded(f, 1 / math.sqrt(number_of(f, a)))


def number_of(f: Format, a: int) -> float:
    """The host double nearest to a pattern."""
    return to_float(floats.resized(f, FORMATS[64], a, "rn"), 64)


def rounded(f: Format, x: float) -> int:
    """The pattern nearest to a host double."""
    return floats.resized(FORMATS[64], f, from_float(x, 64), "rn")


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
    name = next((n for n in ("bf16", "f16") if kind.endswith(n)), "f64" if kind.endswith("64") else "f32")
    f = FORMATS[name]
    if f.is_nan(got) or f.is_nan(expected):
        return f.is_nan(got) and f.is_nan(expected)
    if f.is_infinite(got) or f.is_infinite(expected):
        return got == expected
    if f.is_zero(expected) and f.is_zero(got):
        return f.sign(got) == f.sign(expected)
    x, y = (Fraction(number_of(f, a)) for a in (got, expected))
    relative, absolute = TOLERANCE[kind]
    slack = Fraction(2) ** f.quantum + abs(y) * Fraction(2) ** -f.precision
    return abs(x - y) <= max(Fraction(relative) * abs(y), Fraction(absolute)) + slack
