"""Conversions from and to f16, bf16 and tf32, and their packed forms (PTX ISA, section 9.7.9, cvt)."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import ROUNDING, finished, flushed, is_nan, magnitude, sign_of
from warpreg.ir.opcodes.arithmetic.half import clamped
from warpreg.ir.opcodes.arithmetic.sixteen_bit import (
    NAN16,
    Format,
    format_of,
    is_nan16,
    joined,
    narrowed,
    narrowed_double,
    widened,
)
from warpreg.ir.opcodes.conversion import convert
from warpreg.ir.opcodes.conversion.byte import SATURATIONS
from warpreg.ir.opcodes.conversion.convert import INTEGERS, TO_INTEGER
from warpreg.ir.opcodes.form import Form, Opcode, Unit

V = TypeVar("V")

FLOATS = "(f16|bf16)"


def to_integer(m: Algebra[V], f: Form, a: V) -> V:
    """Rounded as named and clamped, as from single precision."""
    return convert.float_to_integer(m, f, widened(m, format_of(f.type), a))


def from_integer(m: Algebra[V], f: Form, a: V) -> V:
    """Through a double that holds the integer exactly, or, for 64 bits, with a sticky last bit."""
    result, source = f.types
    if source.bits == 64:
        a = _fitting_double(m, a, source.is_signed)
    double = m.int_to_float(a, source.is_signed, 64)
    form = format_of(result)
    return clamped(m, f, form, narrowed_double(m, form, double, f.rounding))


def _fitting_double(m: Algebra[V], a: V, signed: bool) -> V:
    """The low 16 bits of an integer past 2**52 are reduced to one sticky bit, the highest of them."""
    low = m.and_(a, m.constant(64, 0xFFFF))
    zero = m.constant(64, 0)
    sticky = m.select(m.eq(low, zero), zero, m.constant(64, 0x8000))
    high = (m.ashr if signed else m.lshr)(a, m.constant(64, 52))
    small = m.eq(high, zero)
    if signed:
        small = m.or_(small, m.eq(high, m.constant(64, -1)))
    return m.select(small, a, m.or_(m.sub(a, low), sticky))


def to_half(m: Algebra[V], f: Form, a: V) -> V:
    """A number of any format rounded to f16 or bf16; within one format, to an integer with a rounding modifier."""
    result, source = f.types
    form = format_of(result)
    if source.bits == 64:
        return limited(m, f, form, narrowed_double(m, form, a, f.rounding))
    wide = widened(m, format_of(source), a) if source.bits == 16 else flushed(m, f, a)
    whole = next((x for x in f.modifiers if x in ("rni", "rzi", "rmi", "rpi")), None)
    if whole:
        wide = m.fround(wide, whole[:2])
    return limited(m, f, form, narrowed(m, form, wide, f.rounding))


def limited(m: Algebra[V], f: Form, form: Format, a: V) -> V:
    """``.sat``, ``.relu`` and ``.satfinite`` (infinities become the largest numbers)."""
    if f.has("satfinite"):
        largest = m.or_(m.constant(16, form.infinity - 1), sign_of(m, a))
        a = m.select(m.eq(magnitude(m, a), m.constant(16, form.infinity)), largest, a)
    if f.sat or f.has("relu"):
        zero, one = m.constant(16, 0), m.constant(16, form.one)
        lowest = m.or_(m.slt(a, zero), is_nan16(m, form, a)) if f.sat else m.slt(a, zero)
        a = m.select(lowest, zero, a)
        return m.select(m.ult(one, a), one, a) if f.sat else a
    return m.select(is_nan16(m, form, a), m.constant(16, NAN16), a)


def packed_pair(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a becomes the upper half, b the lower."""
    form = format_of(f.types[0])
    high, low = (limited(m, f, form, narrowed(m, form, x, f.rounding)) for x in (a, b))
    return joined(m, low, high)


def from_half(m: Algebra[V], f: Form, a: V) -> V:
    """Exact in single and double precision."""
    result, source = f.types
    wide = widened(m, format_of(source), a)
    return finished(m, f, wide if result.bits == 32 else m.float_resize(wide, 64))


def to_tf32(m: Algebra[V], f: Form, a: V) -> V:
    """19 bits of single precision, the low 13 zero; ``rna`` rounds ties away from zero."""
    thirteen, one = m.constant(32, 13), m.constant(32, 1)
    size, infinity = magnitude(m, a), m.constant(32, 0x7F800000)
    if f.has("rz"):
        rounded = size
    elif f.has("rna"):
        rounded = m.add(size, m.constant(32, 0x1000))
    else:
        rounded = m.add(m.add(size, m.constant(32, 0xFFF)), m.and_(m.lshr(size, thirteen), one))
    rounded = m.shl(m.lshr(rounded, thirteen), thirteen)
    if f.has("satfinite"):
        largest = m.constant(32, 0x7F7FE000)
        rounded = m.select(m.ult(rounded, infinity), rounded, largest)
    value = m.or_(rounded, sign_of(m, a))
    if f.has("relu"):
        value = m.select(m.slt(a, m.constant(32, 0)), m.constant(32, 0), value)
    return m.select(is_nan(m, a), m.constant(32, 0x7FFFFFFF), value)


OPCODES = (
    *(
        row
        for name, sat in (("f16", "[.sat]"), ("bf16", ""))
        for row in (
            Opcode(f"cvt.{TO_INTEGER}{sat}.{INTEGERS}.{name}", "T0 <- T", to_integer),
            Opcode(f"cvt.{ROUNDING}{sat}.{name}.{INTEGERS}", "T0 <- T", from_integer),
            Opcode(f"cvt.{ROUNDING}[.ftz]{sat}.{name}.f32", "T0 <- T", to_half),
            Opcode(f"cvt.{ROUNDING}{sat}.{name}.f64", "T0 <- T", to_half, Unit.DP),
            Opcode(f"cvt[.{TO_INTEGER}]{sat}.{name}.{name}", "T0 <- T", to_half),
        )
    ),
    Opcode(f"cvt.(rn|rz).(relu|{SATURATIONS}).{FLOATS}.f32", "T0 <- T", to_half),
    Opcode(f"cvt[.{ROUNDING}].(bf16.f16|f16.bf16)", "T0 <- T", to_half),
    Opcode("cvt[.ftz][.sat].f32.f16", "T0 <- T", from_half),
    Opcode(f"cvt[.{ROUNDING}][.ftz].f32.bf16", "T0 <- T", from_half),
    Opcode("cvt[.sat].f64.f16", "T0 <- T", from_half, Unit.DP),
    Opcode(f"cvt[.{ROUNDING}].f64.bf16", "T0 <- T", from_half, Unit.DP),
    Opcode(f"cvt.(rn|rz)[.(relu|{SATURATIONS})].(f16x2|bf16x2).f32", "T0 <- T T", packed_pair),
    Opcode(f"cvt.(rn|rz)[.(relu|{SATURATIONS})].tf32.f32", "T0 <- T", to_tf32),
    Opcode("cvt.rna[.satfinite].tf32.f32", "T0 <- T", to_tf32),
)
