"""Conversions of machine code."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.sixteen_bit import BF16, F16, Format, widened
from warpreg.ir.opcodes.conversion import byte, convert, half
from warpreg.ir.opcodes.form import Form, Unit
from warpreg.ir.opcodes.sass.rows import ROUNDING, as_ptx, row

V = TypeVar("V")

TO_INTEGER = {"FLOOR": "rmi", "CEIL": "rpi", "TRUNC": "rzi"}
NARROW_FORMATS = {one.name: one for one in (F16, BF16)}
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
    if narrow := half_format(f):
        a = widened(m, narrow, m.trunc(a, 16))
    bare = Form("cvt", tuple(one.lower() for one in f.modifiers if one == "FTZ"), f.signature)
    converted = convert.float_to_integer(m, as_ptx(bare, "cvt", result, source, more=(rounding(f),)), a)
    if bits_of(result) >= 32:
        return converted
    return (m.sext if result.startswith("s") else m.zext)(converted, 32)


def to_number(m: Algebra[V], f: Form, a: V) -> V:
    """An integer, of which a narrow type takes the low bits."""
    source = integer_type(f)
    cut = m.trunc(a, bits_of(source)) if bits_of(source) < m.width(a) else a
    if narrow := half_format(f):
        return m.zext(half.from_integer(m, plain(f, narrow.name, source), cut), 32)
    return m.int_to_float(cut, source.startswith("s"), 64 if f.has("F64") else 32, direction(f))


def limited(m: Algebra[V], f: Form, a: V) -> V:
    """An integer clamped to the range of a narrower type, and extended to a register."""
    result, source = (one.lower() for one in f.modifiers if one in INTEGERS)
    converted = convert.integer_to_integer(m, plain(f, result, source, "sat"), a)
    return (m.sext if result.startswith("s") else m.zext)(converted, 32)


def resized(m: Algebra[V], f: Form, a: V) -> V:
    """Between the formats that the modifiers name, the result's first."""
    result, source = (one.lower() for one in f.modifiers if one in ("F16", "BF16", "F32", "F64"))
    if source in NARROW_FORMATS:
        a = m.trunc(a, 16)
    form = plain(f, result, source)
    if result in NARROW_FORMATS:
        return m.zext(half.to_half(m, form, a), 32)
    return half.from_half(m, form, a) if source in NARROW_FORMATS else convert.float_to_float(m, form, a)


def whole(m: Algebra[V], f: Form, a: V) -> V:
    """Rounded to an integer that is still a number."""
    if narrow := half_format(f):
        name = narrow.name
        return m.zext(half.to_half(m, plain(f, name, name, rounding(f)), m.trunc(a, 16)), 32)
    type_ = "f64" if f.has("F64") else "f32"
    return convert.float_to_float(m, plain(f, type_, type_, rounding(f)), a)


def packed_halves(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """Two numbers as halves, the first one in the upper half."""
    name = "bf16x2" if f.has("BF16") else "f16x2"
    return half.packed_pair(m, plain(f, name, "f32", *limits(f)), a, b)


def merged_half(m: Algebra[V], f: Form, a: V, c: V) -> V:
    """A number as the lower half; the upper one is that of c, which is 0 in the code of ``ptxas``."""
    lower = half.to_half(m, plain(f, "bf16" if f.has("BF16") else "f16", "f32", *limits(f)), a)
    return m.or_(m.and_(c, m.constant(32, 0xFFFF0000)), m.zext(lower, 32))


def packed_bytes(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """Two numbers as bytes, the first one in the upper byte, below the lower half of c."""
    return below(m, byte.pair_from_single(m, to_bytes(f, "f32"), a, b), c)


def narrowed_halves(m: Algebra[V], f: Form, a: V, c: V) -> V:
    """Two halves as bytes, below the lower half of c."""
    return below(m, byte.pair_from_halves(m, to_bytes(f, "f16x2"), a), c)


def below(m: Algebra[V], pair: V, c: V) -> V:
    return m.or_(m.shl(c, m.constant(32, 16)), m.zext(pair, 32))


def to_bytes(f: Form, source: str) -> Form:
    return plain(f, f"{byte_format(f)}x2", source, "satfinite", *limits(f))


def byte_format(f: Form) -> str:
    return "e4m3" if f.has("E4M3") else "e5m2"


def widened_bytes(m: Algebra[V], f: Form, a: V) -> V:
    """Two bytes as halves."""
    return byte.pair_to_halves(m, plain(f, "f16x2", f"{byte_format(f)}x2", *limits(f)), m.trunc(a, 16))


def tensor_single(m: Algebra[V], f: Form, a: V) -> V:
    """A number in single precision with the 10 bits of a mantissa that matrix instructions take."""
    return half.to_tf32(m, plain(f, "tf32", "f32", *limits(f)), a)


def limits(f: Form) -> tuple[str, ...]:
    return tuple(one.lower() for one in f.modifiers if one in ("RELU", "SATFINITE"))


def plain(f: Form, result: str, source: str, *more: str) -> Form:
    """``cvt`` between types, with the flushing and rounding of the modifiers."""
    kept = tuple(one.lower() for one in f.modifiers if one in ("FTZ", "RM", "RP", "RZ"))
    return as_ptx(Form("cvt", kept, f.signature), "cvt", result, source, more=more)


def half_format(f: Form) -> Format | None:
    """The format of 16 bits that the modifiers name."""
    return next((NARROW_FORMATS[one.lower()] for one in f.modifiers if one.lower() in NARROW_FORMATS), None)


DP = Unit.DP
WHOLE = "[.(FLOOR|CEIL|TRUNC)]"
NARROW = "(U8|S8|U16|S16|U32|S32|U64|S64)"

OPCODES = (
    row(f"F2I[.FTZ][.{NARROW}]{WHOLE}[.NTZ]", to_integer),
    row(f"F2I[.{NARROW}].F64{WHOLE}[.NTZ]", to_integer, DP),
    row(f"F2I[.{NARROW}].(F16|BF16){WHOLE}[.NTZ]", to_integer),
    row(f"I2F.(F16|BF16)[.{NARROW}]{ROUNDING}", to_number),
    row(f"I2F[.{NARROW}]{ROUNDING}", to_number),
    row(f"I2F.F64[.{NARROW}]{ROUNDING}", to_number, DP),
    row(f"I2FP.F32.(U32|S32){ROUNDING}", to_number),
    row("I2I.(U8|S8|U16|S16).(U32|S32).SAT", limited),
    row(f"F2F[.FTZ].(F16|BF16|F32).(F16|BF16|F32){ROUNDING}", resized),
    row(f"F2F[.FTZ].F64.(F32|F16|BF16){ROUNDING}", resized, DP),
    row(f"F2F[.FTZ].(F32|F16|BF16).F64{ROUNDING}", resized, DP),
    row("F2FP[.SATFINITE][.RELU][.(F16|BF16)][.F32].PACK_AB[.RZ]", packed_halves),
    row("F2FP[.SATFINITE][.RELU][.(F16|BF16)][.F32].MERGE_C[.RZ]", merged_half),
    row("F2FP.SATFINITE[.RELU].(E4M3|E5M2).F32.PACK_AB_MERGE_C", packed_bytes),
    row("F2FP.SATFINITE[.RELU].(E4M3|E5M2).F16.UNPACK_B_MERGE_C", narrowed_halves),
    row("F2FP[.RELU].F16.(E4M3|E5M2).UNPACK_B", widened_bytes),
    row("F2FP[.RELU].TF32.F32.PACK_B[.RZ]", tensor_single),
    row(f"FRND[.FTZ]{WHOLE}", whole),
    row(f"FRND.(F16|BF16){WHOLE}", whole),
    row(f"FRND.F64{WHOLE}", whole, DP),
)
