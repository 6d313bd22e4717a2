"""Conversions from and to pairs of 8-bit numbers, e4m3 and e5m2 (PTX ISA, section 9.7.9, cvt).

``e4m3`` has no infinities and one NaN of each sign; ``e5m2`` is the upper byte of f16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.floating import is_nan, magnitude, number, sign_of
from warpreg.ir.opcodes.form import Form, Opcode
from warpreg.ir.opcodes.sixteen_bit import F16, NAN16, halves, joined, narrowed, widened
from warpreg.ir.types import Type

V = TypeVar("V")

NAN8 = 0x7F
"""The NaN of either format that a conversion yields."""


@dataclass(frozen=True)
class ByteFormat:
    """``largest`` is the largest finite number's bits."""

    mantissa: int
    bias: int
    largest: int


E4M3, E5M2 = ByteFormat(3, 7, 0x7E), ByteFormat(2, 15, 0x7B)


def byte_format(type_: Type) -> ByteFormat:
    return E4M3 if type_.name.startswith("e4m3") else E5M2


def to_byte(m: Algebra[V], f: Form, a: V) -> V:
    """A single-precision number rounded to nearest and clamped to the finite numbers.

    A subnormal result is what an addition leaves of a number whose last bit weighs as much as the format's smallest.
    """
    form = byte_format(f.types[0])
    size, dropped = magnitude(m, a), 23 - form.mantissa
    least_exponent = 1 - form.bias
    magic = number(m, 32, 2.0 ** (least_exponent + dropped))
    subnormal = m.sub(m.fadd(size, magic), magic)
    moved = m.sub(size, m.constant(32, (127 - form.bias) << 23))
    odd = m.and_(m.lshr(moved, m.constant(32, dropped)), m.constant(32, 1))
    normal = m.lshr(m.add(m.add(moved, m.constant(32, (1 << dropped - 1) - 1)), odd), m.constant(32, dropped))
    rounded = m.select(m.ult(size, number(m, 32, 2.0**least_exponent)), subnormal, normal)
    largest = m.constant(32, form.largest)
    bounded = m.select(m.ult(largest, rounded), largest, rounded)
    value = m.or_(bounded, m.lshr(sign_of(m, a), m.constant(32, 24)))
    if f.has("relu"):
        value = m.select(m.slt(a, m.constant(32, 0)), m.constant(32, 0), value)
    return m.trunc(m.select(is_nan(m, a), m.constant(32, NAN8), value), 8)


def pair_from_single(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a becomes the upper byte, b the lower."""
    return joined(m, to_byte(m, f, b), to_byte(m, f, a))


def pair_from_halves(m: Algebra[V], f: Form, a: V) -> V:
    low, high = (to_byte(m, f, widened(m, F16, x)) for x in halves(m, a))
    return joined(m, low, high)


def pair_to_halves(m: Algebra[V], f: Form, a: V) -> V:
    """Exact."""
    low, high = (_to_half(m, f, x) for x in halves(m, a))
    return joined(m, low, high)


def _to_half(m: Algebra[V], f: Form, a: V) -> V:
    form = byte_format(f.type)
    size = m.zext(magnitude(m, a), 32)
    scaled = m.fmul(m.shl(size, m.constant(32, 23 - form.mantissa)), number(m, 32, 2.0 ** (127 - form.bias)))
    half = narrowed(m, F16, scaled)
    half = m.or_(half, m.shl(m.zext(sign_of(m, a), 16), m.constant(16, 8)))
    if f.has("relu"):
        half = m.select(m.slt(half, m.constant(16, 0)), m.constant(16, 0), half)
    first_nan = form.largest + (2 if form is E5M2 else 1)
    return m.select(m.ult(size, m.constant(32, first_nan)), half, m.constant(16, NAN16))


PAIRS = "(e4m3x2|e5m2x2)"

OPCODES = (
    Opcode(f"cvt.rn.satfinite[.relu].{PAIRS}.f32", "T0 <- T T", pair_from_single),
    Opcode(f"cvt.rn.satfinite[.relu].{PAIRS}.f16x2", "T0 <- T", pair_from_halves),
    Opcode(f"cvt.rn[.relu].f16x2.{PAIRS}", "T0 <- T", pair_to_halves),
)
