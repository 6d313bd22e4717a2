"""IEEE 754 with exact fractions: the expected result of each operation, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

PRECISION = {32: 24, 64: 53}
EXPONENT_BITS = {32: 8, 64: 11}
NAN = {32: 0x7FFFFFFF, 64: 0x7FF8000000000000}


def sign(bits: int, width: int) -> int:
    return bits >> width - 1


def infinity(width: int) -> int:
    return ((1 << EXPONENT_BITS[width]) - 1) << PRECISION[width] - 1


def is_nan(bits: int, width: int) -> bool:
    return bits & (1 << width - 1) - 1 > infinity(width)


def is_infinite(bits: int, width: int) -> bool:
    return bits & (1 << width - 1) - 1 == infinity(width)


def is_subnormal(bits: int, width: int) -> bool:
    return 0 < bits & (1 << width - 1) - 1 < 1 << PRECISION[width] - 1


def value(bits: int, width: int) -> Fraction:
    """The number that finite bits stand for."""
    mantissa_bits = PRECISION[width] - 1
    bias = (1 << EXPONENT_BITS[width] - 1) - 1
    exponent, mantissa = bits >> mantissa_bits & (1 << EXPONENT_BITS[width]) - 1, bits & (1 << mantissa_bits) - 1
    if exponent:
        mantissa |= 1 << mantissa_bits
    scale = max(exponent, 1) - bias - mantissa_bits
    return Fraction(mantissa) * Fraction(2) ** scale * (-1) ** sign(bits, width)


def rounded_integer(x: Fraction, mode: str) -> int:
    """x rounded to an integer: rn (ties to even), rz, rm or rp."""
    if mode == "rn":
        return round(x)
    down, exact = x.numerator // x.denominator, x.denominator == 1
    if mode == "rm" or exact or (mode == "rz" and x > 0):
        return down
    return down + 1


def rounded(x: Fraction, width: int, mode: str = "rn", negative_zero: bool = False) -> int:
    """The bits of x; an exact zero is negative on demand."""
    if x == 0:
        return int(negative_zero) << width - 1
    precision, bias = PRECISION[width], (1 << EXPONENT_BITS[width] - 1) - 1
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    quantum = max(exponent, 1 - bias) - precision + 1
    mirrored = {"rm": "rp", "rp": "rm"}.get(mode, mode) if x < 0 else mode
    steps = rounded_integer(size / Fraction(2) ** quantum, mirrored)
    bits = steps + ((quantum + precision - 2 + bias) << precision - 1)
    if bits >= infinity(width):
        bits = infinity(width) - (mirrored in ("rz", "rm"))
    return bits | int(x < 0) << width - 1


def add(a: int, b: int, width: int, mode: str = "rn") -> int:
    if is_nan(a, width) or is_nan(b, width):
        return NAN[width]
    if is_infinite(a, width) or is_infinite(b, width):
        if is_infinite(a, width) and is_infinite(b, width) and a != b:
            return NAN[width]
        return a if is_infinite(a, width) else b
    x, y = value(a, width), value(b, width)
    both_negative = sign(a, width) and sign(b, width)
    cancelled = (x != 0 or sign(a, width) != sign(b, width)) and mode == "rm"
    return rounded(x + y, width, mode, bool(both_negative or cancelled))


def negate(a: int, width: int) -> int:
    return a ^ 1 << width - 1


def multiply(a: int, b: int, width: int, mode: str = "rn") -> int:
    if is_nan(a, width) or is_nan(b, width):
        return NAN[width]
    negative = sign(a, width) ^ sign(b, width)
    zero = (1 << width - 1) - 1
    if is_infinite(a, width) or is_infinite(b, width):
        return NAN[width] if not a & zero or not b & zero else infinity(width) | negative << width - 1
    return rounded(value(a, width) * value(b, width), width, mode, bool(negative))


def fma(a: int, b: int, c: int, width: int, mode: str = "rn") -> int:
    finite = not any(is_infinite(x, width) or is_nan(x, width) for x in (a, b, c))
    if not finite:
        product = multiply(a, b, width)
        if not (is_infinite(a, width) or is_infinite(b, width)) and not is_nan(product, width):
            product = 0
        return add(product, c, width)
    product_sign = sign(a, width) ^ sign(b, width)
    x, y = value(a, width) * value(b, width), value(c, width)
    both_negative = product_sign and sign(c, width)
    cancelled = (x != 0 or product_sign != sign(c, width)) and mode == "rm"
    return rounded(x + y, width, mode, bool(both_negative or cancelled))


def divide(a: int, b: int, width: int, mode: str = "rn") -> int:
    if is_nan(a, width) or is_nan(b, width):
        return NAN[width]
    negative = (sign(a, width) ^ sign(b, width)) << width - 1
    zeros = [not x & (1 << width - 1) - 1 for x in (a, b)]
    if all(zeros) or (is_infinite(a, width) and is_infinite(b, width)):
        return NAN[width]
    if is_infinite(a, width) or zeros[1]:
        return infinity(width) | negative
    if is_infinite(b, width):
        return negative
    return rounded(value(a, width) / value(b, width), width, mode, bool(negative))


def square_root(a: int, width: int, mode: str = "rn") -> int:
    if is_nan(a, width) or (sign(a, width) and a != 1 << width - 1):
        return NAN[width]
    if is_infinite(a, width) or a in (0, 1 << width - 1):
        return a
    x = value(a, width)
    scaled = x * 4**600
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(root) ** 2 == scaled
    return rounded(Fraction(2 * root + (not exact), 2 * 2**600), width, mode)


def flushed(a: int, width: int = 32) -> int:
    """A subnormal becomes the zero of its sign."""
    return sign(a, width) << width - 1 if is_subnormal(a, width) else a


def saturated(a: int, width: int) -> int:
    """Clamped to [0, 1], NaN to 0."""
    one = rounded(Fraction(1), width)
    return 0 if is_nan(a, width) or sign(a, width) else min(a, one)
