"""Single-precision arithmetic on `Value`s of bits or floats, as scalars or 32-lane vectors, rounded to nearest."""

from __future__ import annotations

import struct
from typing import Any

from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, LANES, Code, Value, lanes_of

F32 = ir.FloatType()
FLOATS = lanes_of(F32)
WORDS = lanes_of(I32)


def number(code: Code, value: float) -> Value:
    """A constant in all lanes."""
    return code.const(WORDS, struct.unpack("<I", struct.pack("<f", value))[0]).bitcast(FLOATS)


def one_number(code: Code, value: float) -> Value:
    """A scalar constant."""
    return code.const(I32, struct.unpack("<I", struct.pack("<f", value))[0]).bitcast(F32)


def add(a: Value, b: Value) -> Value:
    return Value(a.code, a.code.builder.fadd(a.llvm, b.llvm))


def sub(a: Value, b: Value) -> Value:
    return Value(a.code, a.code.builder.fsub(a.llvm, b.llvm))


def mul(a: Value, b: Value) -> Value:
    return Value(a.code, a.code.builder.fmul(a.llvm, b.llvm))


def div(a: Value, b: Value) -> Value:
    return Value(a.code, a.code.builder.fdiv(a.llvm, b.llvm))


def compare(a: Value, operator: str, b: Value) -> Value:
    """False if either is NaN."""
    return Value(a.code, a.code.builder.fcmp_ordered(operator, a.llvm, b.llvm))


def at_least(a: Value, low: Value) -> Value:
    """The larger; ``low`` if ``a`` is NaN."""
    return compare(a, ">", low).select(a, low)


def at_most(a: Value, high: Value) -> Value:
    """The smaller; ``high`` if ``a`` is NaN."""
    return compare(a, "<", high).select(a, high)


def floor(a: Value) -> Value:
    return _rounding("floor", a)


def nearest(a: Value) -> Value:
    """The nearest integer, ties to even."""
    return _rounding("roundeven", a)


def magnitude(a: Value) -> Value:
    return _rounding("fabs", a)


def negated(a: Value) -> Value:
    return (a.bitcast(WORDS) ^ (1 << 31)).bitcast(FLOATS)


def _rounding(name: str, a: Value) -> Value:
    suffix = f"v{LANES}f32" if isinstance(a.type, ir.VectorType) else "f32"
    return a.code.intrinsic(f"llvm.{name}.{suffix}", a.type, [a])


def to_integer(a: Value) -> Value:
    """A whole number that fits as i32 lanes."""
    return Value(a.code, a.code.builder.fptosi(a.llvm, WORDS))


def from_signed(a: Value, type_: Any = FLOATS) -> Value:
    return Value(a.code, a.code.builder.sitofp(a.llvm, type_))


def from_unsigned(a: Value, type_: Any = FLOATS) -> Value:
    return Value(a.code, a.code.builder.uitofp(a.llvm, type_))
