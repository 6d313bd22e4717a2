"""The 16-bit floating-point formats, and conversions between them and single or double precision.

``f16`` has 5 exponent bits and 10 of mantissa, ``bf16`` the exponent of single precision and 7 of mantissa.  Arithmetic
is done in a wider format and rounded once.  If the wider operation rounds too, it rounds *to odd*: the last bit of an
inexact result is set, so that a later rounding to at least two bits fewer equals the rounding of the exact number
(Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions on Computers 57(4), 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import is_nan, magnitude, number, sign_of
from warpreg.ir.types import Type

V = TypeVar("V")

NAN16 = 0x7FFF
"""The NaN that arithmetic of either format yields."""


@dataclass(frozen=True)
class Format:
    """``infinity`` and ``one`` are the bits of those numbers."""

    name: str
    infinity: int
    one: int


F16, BF16 = Format("f16", 0x7C00, 0x3C00), Format("bf16", 0x7F80, 0x3F80)


def format_of(type_: Type) -> Format:
    """The format of a type or of its two halves."""
    return BF16 if type_.name.startswith("bf16") else F16


def is_nan16(m: Algebra[V], form: Format, a: V) -> V:
    return m.ult(m.constant(16, form.infinity), magnitude(m, a))


def flushed16(m: Algebra[V], form: Format, a: V) -> V:
    """A subnormal number becomes the zero of its sign."""
    subnormal = m.eq(m.and_(a, m.constant(16, form.infinity)), m.constant(16, 0))
    return m.select(subnormal, sign_of(m, a), a)


def widened(m: Algebra[V], form: Format, a: V) -> V:
    """The same number in single precision; for f16, a multiplication corrects the exponent, including subnormals."""
    wide = m.zext(a, 32)
    if form is BF16:
        return m.shl(wide, m.constant(32, 16))
    size = m.shl(m.and_(wide, m.constant(32, 0x7FFF)), m.constant(32, 13))
    scaled = m.fmul(size, number(m, 32, 2.0**112))
    special = m.or_(size, m.constant(32, 0x7F800000))
    moved = m.select(m.ult(size, m.constant(32, F16.infinity << 13)), scaled, special)
    return m.or_(moved, m.shl(m.and_(wide, m.constant(32, 0x8000)), m.constant(32, 16)))


def towards_odd(m: Algebra[V], rounded: V, error: V) -> V:
    """A result rounded to nearest, made odd; ``error`` has the sign of the exact result minus the rounded one."""
    bits = m.width(rounded)
    zero, one = m.constant(bits, 0), m.constant(bits, 1)
    no_error = m.constant(m.width(error), 0)
    inexact = m.or_(m.fcmp("olt", error, no_error), m.fcmp("olt", no_error, error))
    even = m.eq(m.and_(rounded, one), zero)
    grows = m.eq(m.lshr(error, m.constant(m.width(error), m.width(error) - 1)), _low_sign(m, rounded, m.width(error)))
    other = m.select(grows, m.add(rounded, one), m.sub(rounded, one))
    return m.select(m.and_(inexact, even), other, rounded)


def _low_sign(m: Algebra[V], a: V, bits: int) -> V:
    sign = m.lshr(a, m.constant(m.width(a), m.width(a) - 1))
    return m.zext(sign, bits) if bits >= m.width(a) else m.trunc(sign, bits)


def odd_sum(m: Algebra[V], a: V, b: V) -> V:
    """a + b rounded to odd; the error of the sum is exact unless it overflows (Knuth's two-sum)."""
    total = m.fadd(a, b)
    part = m.fsub(total, a)
    error = m.fadd(m.fsub(a, m.fsub(total, part)), m.fsub(b, part))
    return towards_odd(m, total, error)


def odd_single(m: Algebra[V], a: V) -> V:
    """A double rounded to single precision, to odd; out-of-range numbers become the largest one."""
    near = m.float_resize(a, 32)
    back = m.float_resize(near, 64)
    finite = m.ult(magnitude(m, a), m.constant(64, 0x7FF0000000000000))
    error = m.select(finite, m.fsub(a, back), m.constant(64, 0))
    return towards_odd(m, near, error)


def narrowed(m: Algebra[V], form: Format, a: V, rounding: str = "rn") -> V:
    """A single-precision number rounded to the format: to nearest, then adjusted in the direction of ``rounding``."""
    near = _nearest(m, form, a)
    if rounding == "rn":
        return near
    back, negative = widened(m, form, near), m.eq(sign_of(m, a), m.constant(32, 0x80000000))
    above, below = m.fcmp("olt", a, back), m.fcmp("olt", back, a)
    shrinks = m.fcmp("olt", magnitude(m, a), magnitude(m, back))
    one = m.constant(16, 1)
    smaller, larger = m.sub(near, one), m.add(near, one)
    if rounding == "rz":
        return m.select(shrinks, smaller, near)
    wrong, inwards = (above, smaller) if rounding == "rm" else (below, larger)
    mirrored = larger if rounding == "rm" else smaller
    return m.select(wrong, m.select(negative, mirrored, inwards), near)


def _nearest(m: Algebra[V], form: Format, a: V) -> V:
    size = magnitude(m, a)
    rounded = _nearest_bf16(m, size) if form is BF16 else _nearest_f16(m, size)
    sign = m.trunc(m.lshr(sign_of(m, a), m.constant(32, 16)), 16)
    return m.select(is_nan(m, a), m.constant(16, NAN16), m.or_(m.trunc(rounded, 16), sign))


def _without_low_bits(m: Algebra[V], a: V, count: int) -> V:
    """a / 2**count, rounded to nearest, ties to even."""
    n = m.constant(32, count)
    odd = m.and_(m.lshr(a, n), m.constant(32, 1))
    return m.lshr(m.add(m.add(a, m.constant(32, (1 << count - 1) - 1)), odd), n)


def _nearest_bf16(m: Algebra[V], size: V) -> V:
    return _without_low_bits(m, size, 16)


def _nearest_f16(m: Algebra[V], size: V) -> V:
    """A subnormal result is formed by adding 1/2, whose last bit has the weight of f16's smallest number."""
    half = number(m, 32, 0.5)
    subnormal = m.sub(m.fadd(size, half), half)
    normal = _without_low_bits(m, m.sub(size, m.constant(32, 112 << 23)), 13)
    rounded = m.select(m.ult(size, number(m, 32, 2.0**-14)), subnormal, normal)
    return m.select(m.ult(size, number(m, 32, 65536.0)), rounded, m.constant(32, F16.infinity))


def narrowed_double(m: Algebra[V], form: Format, a: V, rounding: str = "rn") -> V:
    """A double rounded once to the format."""
    return narrowed(m, form, odd_single(m, a), rounding)


def halves(m: Algebra[V], a: V) -> tuple[V, V]:
    """The lower and the upper half of a packed pair."""
    bits = m.width(a) // 2
    return m.trunc(a, bits), m.trunc(m.lshr(a, m.constant(2 * bits, bits)), bits)


def joined(m: Algebra[V], low: V, high: V) -> V:
    bits = 2 * m.width(low)
    return m.or_(m.zext(low, bits), m.shl(m.zext(high, bits), m.constant(bits, bits // 2)))
