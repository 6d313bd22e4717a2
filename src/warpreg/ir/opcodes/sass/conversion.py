"""Conversions of machine code."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.sixteen_bit import F16, narrowed, narrowed_double, widened
from warpreg.ir.opcodes.conversion import convert
from warpreg.ir.opcodes.form import Form, Unit
from warpreg.ir.opcodes.sass.rows import ROUNDING, as_ptx, row

V = TypeVar("V")

TO_INTEGER = {"FLOOR": "rmi", "CEIL": "rpi", "TRUNC": "rzi"}
INTEGERS = ("U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64")


def rounding(f: Form) -> str:
    """How a number becomes an integer: to the nearest unless a modifier says otherwise."""
    return next((TO_INTEGER[one] for one in f.modifiers if one in TO_INTEGER), "rni")


def direction(f: Form) -> str:
    """How a number that is not exact becomes another one: to the nearest unless a modifier says otherwise."""
    return next((one.lower() for one in f.modifiers if one in ("RM", "RP", "RZ")), "rn")


def integer_type(f: Form) -> str:
    """The integer type among the modifiers; signed with 32 bits without one."""
    return next((one.lower() for one in f.modifiers if one in INTEGERS), "s32")


def bits_of(type_: str) -> int:
    return int(type_[1:])


def to_integer(m: Algebra[V], f: Form, a: V) -> V:
    """A number rounded and clamped to the range of the type; a narrow result is extended to a register."""
    result, source = integer_type(f), "f64" if f.has("F64") else "f32"
    plain = Form("cvt", tuple(one.lower() for one in f.modifiers if one == "FTZ"), f.signature)
    converted = convert.float_to_integer(m, as_ptx(plain, "cvt", result, source, more=(rounding(f),)), a)
    if bits_of(result) >= 32:
        return converted
    return (m.sext if result.startswith("s") else m.zext)(converted, 32)


def to_number(m: Algebra[V], f: Form, a: V) -> V:
    """An integer, of which a narrow type takes the low bits."""
    source = integer_type(f)
    cut = m.trunc(a, bits_of(source)) if bits_of(source) < m.width(a) else a
    return m.int_to_float(cut, source.startswith("s"), 64 if f.has("F64") else 32, direction(f))


def limited(m: Algebra[V], f: Form, a: V) -> V:
    """An integer clamped to the range of a narrower type, and extended to a register."""
    result, source = (one.lower() for one in f.modifiers if one in INTEGERS)
    plain = Form("cvt", ("sat",), f.signature)
    converted = convert.integer_to_integer(m, as_ptx(plain, "cvt", result, source), a)
    return (m.sext if result.startswith("s") else m.zext)(converted, 32)


def resized(m: Algebra[V], f: Form, a: V) -> V:
    """Between the formats that the modifiers name, the result's first."""
    result, source = (one.lower() for one in f.modifiers if one in ("F16", "F32", "F64"))
    if result == "f16":
        half = narrowed_double if source == "f64" else narrowed
        return m.zext(half(m, F16, a, direction(f)), 32)
    if source == "f16":
        single = widened(m, F16, m.trunc(a, 16))
        return single if result == "f32" else m.float_resize(single, 64, "rn")
    plain = Form("cvt", tuple(one.lower() for one in f.modifiers if one in ("FTZ", "RM", "RP", "RZ")), f.signature)
    return convert.float_to_float(m, as_ptx(plain, "cvt", result, source), a)


def whole(m: Algebra[V], f: Form, a: V) -> V:
    """Rounded to an integer that is still a number."""
    type_ = "f64" if f.has("F64") else "f32"
    plain = Form("cvt", tuple(one.lower() for one in f.modifiers if one == "FTZ"), f.signature)
    return convert.float_to_float(m, as_ptx(plain, "cvt", type_, type_, more=(rounding(f),)), a)


def packed_halves(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """Two numbers as halves, the first one in the upper half."""
    upper, lower = (m.zext(narrowed(m, F16, one), 32) for one in (a, b))
    return m.or_(m.shl(upper, m.constant(32, 16)), lower)


DP = Unit.DP
WHOLE = "[.(FLOOR|CEIL|TRUNC)]"
NARROW = "(U8|S8|U16|S16|U32|S32|U64|S64)"

OPCODES = (
    row(f"F2I[.FTZ][.{NARROW}]{WHOLE}[.NTZ]", to_integer),
    row(f"F2I[.{NARROW}].F64{WHOLE}[.NTZ]", to_integer, DP),
    row(f"I2F[.{NARROW}]{ROUNDING}", to_number),
    row(f"I2F.F64[.{NARROW}]{ROUNDING}", to_number, DP),
    row(f"I2FP.F32.(U32|S32){ROUNDING}", to_number),
    row("I2I.(U8|S8|U16|S16).(U32|S32).SAT", limited),
    row(f"F2F[.FTZ].(F16|F32).(F16|F32){ROUNDING}", resized),
    row(f"F2F[.FTZ].F64.(F32|F16){ROUNDING}", resized, DP),
    row(f"F2F[.FTZ].(F32|F16).F64{ROUNDING}", resized, DP),
    row("F2FP[.F16][.F32].PACK_AB", packed_halves),
    row(f"FRND[.FTZ]{WHOLE}", whole),
    row(f"FRND.F64{WHOLE}", whole, DP),
)
