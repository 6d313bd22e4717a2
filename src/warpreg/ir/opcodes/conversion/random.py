"""Stochastic rounding, ``cvt.rs`` (PTX ISA, section 9.7.9, cvt): random bits determine the neighbour of a number.

Random bits are added below the last kept place, at the upper end of the dropped bits, and the sum is truncated.  A
conversion to f16x2 uses 13 bits for each number and one to bf16x2 16, from the half of ``rbits`` at the number's own
position.  Four numbers share two chunks of 16 bits, the upper half of ``rbits`` for the first two and the lower for the
others (for e2m1x4, the upper bytes of both halves, and the lower bytes); the second and fourth number use the chunk
unchanged, the first and third its reverse.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import is_nan, magnitude, sign_of
from warpreg.ir.opcodes.arithmetic.sixteen_bit import F16, NAN16, Format, format_of, joined
from warpreg.ir.opcodes.conversion.byte import CLAMPED, SATURATIONS, finished_small, packed, small_format
from warpreg.ir.opcodes.conversion.half import limited
from warpreg.ir.opcodes.form import Form, Opcode

V = TypeVar("V")

FAR = 40
"""A number this many places below the last one remains below it after any addition."""


def cut(m: Algebra[V], mantissa: int, bias: int, a: V, random: V, count: int) -> V:
    """The magnitude of a single-precision number plus ``count`` random bits below the last place, truncated; infinity
    and NaN become larger than any number."""
    size, zero, one = magnitude(m, a), m.constant(32, 0), m.constant(32, 1)
    field = m.lshr(size, m.constant(32, 23))
    is_subnormal = m.eq(field, zero)
    hidden = m.select(is_subnormal, zero, m.constant(32, 1 << 23))
    digits = m.or_(m.and_(size, m.constant(32, (1 << 23) - 1)), hidden)
    exponent, least = m.select(is_subnormal, one, field), m.constant(32, 128 - bias)
    is_small = m.ult(exponent, least)
    places = m.add(m.constant(32, 23 - mantissa), m.select(is_small, m.sub(least, exponent), zero))
    far = m.constant(32, FAR)
    shift = m.zext(m.select(m.ult(places, far), places, far), 64)
    added = m.shl(m.zext(random, 64), m.sub(shift, m.constant(64, count)))
    units = m.trunc(m.lshr(m.add(m.zext(digits, 64), added), shift), 32)
    above = m.select(is_small, zero, m.shl(m.sub(exponent, least), m.constant(32, mantissa)))
    return m.add(above, units)


def pair(m: Algebra[V], f: Form, a: V, b: V, random: V) -> V:
    """a becomes the upper half, b the lower."""
    form, count = format_of(f.types[0]), 13 if f.types[0].name == "f16x2" else 16
    mask = m.constant(32, (1 << count) - 1)
    high = _half(m, f, form, a, m.and_(m.lshr(random, m.constant(32, 16)), mask), count)
    return joined(m, _half(m, f, form, b, m.and_(random, mask), count), high)


def _half(m: Algebra[V], f: Form, form: Format, a: V, random: V, count: int) -> V:
    mantissa, bias = (10, 15) if form is F16 else (7, 127)
    size, infinity = cut(m, mantissa, bias, a, random, count), m.constant(32, form.infinity)
    bounded = m.trunc(m.select(m.ult(size, infinity), size, infinity), 16)
    value = m.or_(bounded, m.trunc(m.lshr(sign_of(m, a), m.constant(32, 16)), 16))
    return limited(m, f, form, m.select(is_nan(m, a), m.constant(16, NAN16), value))


def four(m: Algebra[V], f: Form, a: V, b: V, c: V, d: V, random: V) -> V:
    """a becomes the highest element, d the lowest."""
    form, bits = small_format(f.types[0]), m.constant(32, 16)
    upper, lower = (m.and_(x, m.constant(32, 0xFFFF)) for x in _chunks(m, form.bits == 4, random))
    chunks = (lower, m.lshr(m.bitreverse(lower), bits), upper, m.lshr(m.bitreverse(upper), bits))
    sizes = (cut(m, form.mantissa, form.bias, x, chunk, 16) for x, chunk in zip((d, c, b, a), chunks, strict=True))
    elements = [finished_small(m, f, form, x, size) for x, size in zip((d, c, b, a), sizes, strict=True)]
    return packed(m, elements, form.pitch, f.types[0].bits)


def _chunks(m: Algebra[V], by_bytes: bool, random: V) -> tuple[V, V]:
    """The random bits of the first two numbers and of the others."""
    eight, high = m.constant(32, 8), m.lshr(random, m.constant(32, 16))
    if not by_bytes:
        return high, random
    byte = m.constant(32, 0xFF)
    upper = m.or_(m.and_(high, m.constant(32, 0xFF00)), m.and_(m.lshr(random, eight), byte))
    return upper, m.or_(m.shl(m.and_(high, byte), eight), m.and_(random, byte))


FOURS = "(e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4)"

OPCODES = (
    Opcode(f"cvt.rs[.(relu|{SATURATIONS})].(f16x2|bf16x2).f32", "T0 <- T T b32", pair, outlined=True),
    Opcode(f"cvt.rs.{CLAMPED}.{FOURS}.f32", "T0 <- T T T T b32", four, outlined=True),
)
