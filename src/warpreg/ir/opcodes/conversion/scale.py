"""Powers of two in a byte, ``ue8m0``, and integers clamped and packed (PTX ISA, section 9.7.9, cvt and cvt.pack).

``ue8m0`` is the exponent of single precision only: 0 is 2**-127, 255 is NaN.  The sign of the operand is ignored.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import magnitude
from warpreg.ir.opcodes.arithmetic.integer import clamp_signed
from warpreg.ir.opcodes.arithmetic.sixteen_bit import BF16, NAN16, halves, joined, widened
from warpreg.ir.opcodes.conversion.byte import packed
from warpreg.ir.opcodes.form import Form, Opcode

V = TypeVar("V")

HALF_OF_LEAST = 0x00400000
"""2**-127 in single precision."""
INFINITY = 0x7F800000


def scale(m: Algebra[V], f: Form, a: V) -> V:
    """The exponent of a single-precision number, rounded up with ``.rp``; with ``.satfinite`` infinity becomes 254."""
    size, infinity = magnitude(m, a), m.constant(32, INFINITY)
    exponent = m.lshr(size, m.constant(32, 23))
    if f.has("rp"):
        fraction = m.and_(size, m.constant(32, (1 << 23) - 1))
        is_between = m.and_(m.ult(m.constant(32, 0), fraction), m.ult(m.constant(32, HALF_OF_LEAST), size))
        exponent = m.add(exponent, m.zext(m.and_(is_between, m.ult(size, infinity)), 32))
    if f.has("satfinite"):
        largest = m.constant(32, 0xFE)
        past = m.and_(m.ult(largest, exponent), m.xor(m.ult(infinity, size), m.constant(1, 1)))
        exponent = m.select(past, largest, exponent)
    return exponent


def scales_of_single(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a becomes the upper byte, b the lower."""
    return packed(m, (scale(m, f, b), scale(m, f, a)), 8, 16)


def scales_of_halves(m: Algebra[V], f: Form, a: V) -> V:
    return packed(m, [scale(m, f, widened(m, BF16, x)) for x in halves(m, a)], 8, 16)


def halves_of_scales(m: Algebra[V], f: Form, a: V) -> V:
    """Exact, 2**-127 as a subnormal number."""
    low, high = (_power(m, m.zext(x, 16)) for x in halves(m, a))
    return joined(m, low, high)


def _power(m: Algebra[V], exponent: V) -> V:
    power = m.shl(exponent, m.constant(16, 7))
    power = m.select(m.eq(exponent, m.constant(16, 0)), m.constant(16, 0x0040), power)
    return m.select(m.eq(exponent, m.constant(16, 0xFF)), m.constant(16, NAN16), power)


def packed_integers(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> V:
    """b clamped in the lowest bits, a above it, and above that the low bits of c."""
    name = f.modifiers[2]
    bits = int(name[1:])
    low, high = (_clamped(m, name[0] == "s", bits, x) for x in (b, a))
    whole = m.or_(low, m.shl(high, m.constant(32, bits)))
    return whole if c is None else m.or_(whole, m.shl(c, m.constant(32, 2 * bits)))


def _clamped(m: Algebra[V], signed: bool, bits: int, a: V) -> V:
    """A signed number clamped to the integers of ``bits``, in the low bits of a word."""
    if signed:
        return m.zext(clamp_signed(m, a, bits), 32)
    zero, most = m.constant(32, 0), m.constant(32, (1 << bits) - 1)
    return m.select(m.slt(a, zero), zero, m.select(m.slt(most, a), most, a))


OPCODES = (
    Opcode("cvt.(rz|rp)[.satfinite].ue8m0x2.f32", "T0 <- T T", scales_of_single),
    Opcode("cvt.(rz|rp)[.satfinite].ue8m0x2.bf16x2", "T0 <- T", scales_of_halves),
    Opcode("cvt.rn.bf16x2.ue8m0x2", "T0 <- T", halves_of_scales),
    Opcode("cvt.pack.sat.(u16|s16).s32", "b32 <- s32 s32", packed_integers),
    Opcode("cvt.pack.sat.(u8|s8|u4|s4|u2|s2).s32.b32", "b32 <- s32 s32 b32", packed_integers),
)
