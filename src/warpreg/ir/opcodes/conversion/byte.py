"""Conversions from and to packed numbers of 8, 6 and 4 bits (PTX ISA, section 9.7.9, cvt).

``e4m3`` has no infinities and one NaN of each sign; ``e5m2`` is the upper byte of f16; ``e2m3``, ``e3m2`` and ``e2m1``
have neither, and a NaN becomes their largest number.  A number of 6 bits is in the low bits of a byte, one of 4 bits in
half a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import is_nan, magnitude, number, sign_of
from warpreg.ir.opcodes.arithmetic.sixteen_bit import NAN16, format_of, halves, joined, narrowed, widened
from warpreg.ir.opcodes.form import Form, Opcode
from warpreg.ir.types import Type

V = TypeVar("V")


@dataclass(frozen=True)
class SmallFormat:
    """A sign, an exponent and ``mantissa`` bits; ``largest`` and ``nan`` are the bits of the largest finite number and
    of the result for a NaN, ``last`` the largest magnitude that is a number or infinity."""

    bits: int
    mantissa: int
    bias: int
    largest: int
    nan: int
    last: int

    @property
    def pitch(self) -> int:
        """Bits from one packed element to the next."""
        return 4 if self.bits == 4 else 8


FORMATS = {
    "e4m3": SmallFormat(8, 3, 7, 0x7E, 0x7F, 0x7E),
    "e5m2": SmallFormat(8, 2, 15, 0x7B, 0x7F, 0x7C),
    "e2m3": SmallFormat(6, 3, 1, 0x1F, 0x1F, 0x1F),
    "e3m2": SmallFormat(6, 2, 3, 0x1F, 0x1F, 0x1F),
    "e2m1": SmallFormat(4, 1, 1, 0x7, 0x7, 0x7),
}


def small_format(type_: Type) -> SmallFormat:
    """The format of the elements of a packed type."""
    return FORMATS[type_.name[:4]]


def nearest(m: Algebra[V], form: SmallFormat, a: V) -> V:
    """The magnitude of a single-precision number rounded to nearest, not yet bounded.

    A subnormal result is formed by adding a number whose last bit has the weight of the format's smallest number.
    """
    size, dropped = magnitude(m, a), 23 - form.mantissa
    least_exponent = 1 - form.bias
    magic = number(m, 32, 2.0 ** (least_exponent + dropped))
    subnormal = m.sub(m.fadd(size, magic), magic)
    moved = m.sub(size, m.constant(32, (127 - form.bias) << 23))
    odd = m.and_(m.lshr(moved, m.constant(32, dropped)), m.constant(32, 1))
    normal = m.lshr(m.add(m.add(moved, m.constant(32, (1 << dropped - 1) - 1)), odd), m.constant(32, dropped))
    return m.select(m.ult(size, number(m, 32, 2.0**least_exponent)), subnormal, normal)


def finished_small(m: Algebra[V], f: Form, form: SmallFormat, a: V, size: V) -> V:
    """A rounded magnitude clamped to the finite numbers, with the sign of a; handles NaN and ``.relu``."""
    largest = m.constant(32, form.largest)
    value = m.select(m.ult(largest, size), largest, size)
    value = m.or_(value, m.lshr(sign_of(m, a), m.constant(32, 32 - form.bits)))
    if f.has("relu"):
        value = m.select(m.slt(a, m.constant(32, 0)), m.constant(32, 0), value)
    return m.select(is_nan(m, a), m.constant(32, form.nan), value)


def packed(m: Algebra[V], elements: Sequence[V], pitch: int, bits: int) -> V:
    """32-bit elements, lowest first, in one value of ``bits``."""
    whole = elements[0]
    for index, element in enumerate(elements[1:], 1):
        whole = m.or_(whole, m.shl(element, m.constant(32, pitch * index)))
    return m.trunc(whole, bits)


def _packed_nearest(m: Algebra[V], f: Form, singles: Sequence[V]) -> V:
    form = small_format(f.types[0])
    elements = [finished_small(m, f, form, a, nearest(m, form, a)) for a in singles]
    return packed(m, elements, form.pitch, f.types[0].bits)


def pair_from_single(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a becomes the upper element, b the lower."""
    return _packed_nearest(m, f, (b, a))


def pair_from_halves(m: Algebra[V], f: Form, a: V) -> V:
    return _packed_nearest(m, f, [widened(m, format_of(f.type), x) for x in halves(m, a)])


def pair_to_halves(m: Algebra[V], f: Form, a: V) -> V:
    """Exact."""
    form, whole = small_format(f.type), m.zext(a, 32)
    low, high = (_to_half(m, f, form, m.lshr(whole, m.constant(32, at))) for at in (0, form.pitch))
    return joined(m, low, high)


def _to_half(m: Algebra[V], f: Form, form: SmallFormat, a: V) -> V:
    size = m.and_(a, m.constant(32, (1 << form.bits - 1) - 1))
    sign = m.shl(m.and_(a, m.constant(32, 1 << form.bits - 1)), m.constant(32, 32 - form.bits))
    scaled = m.fmul(m.shl(size, m.constant(32, 23 - form.mantissa)), number(m, 32, 2.0 ** (127 - form.bias)))
    if form.last > form.largest:
        scaled = m.select(m.eq(size, m.constant(32, form.last)), m.constant(32, 0x7F800000), scaled)
    half = narrowed(m, format_of(f.types[0]), m.or_(scaled, sign))
    if f.has("relu"):
        half = m.select(m.slt(half, m.constant(16, 0)), m.constant(16, 0), half)
    return m.select(m.ult(m.constant(32, form.last), size), m.constant(16, NAN16), half)


PAIRS = "(e4m3x2|e5m2x2|e2m3x2|e3m2x2|e2m1x2)"
SATURATIONS = "satfinite|relu.satfinite|satfinite.relu"
CLAMPED = f"({SATURATIONS})"

OPCODES = (
    Opcode(f"cvt.rn.{CLAMPED}.{PAIRS}.f32", "T0 <- T T", pair_from_single),
    Opcode(f"cvt.rn.{CLAMPED}.{PAIRS}.(f16x2|bf16x2)", "T0 <- T", pair_from_halves),
    Opcode(f"cvt.rn[.relu].(f16x2|bf16x2).{PAIRS}", "T0 <- T", pair_to_halves),
)
