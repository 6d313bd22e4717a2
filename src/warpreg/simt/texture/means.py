"""The mean of a linear filter, and texels of ``tld4``, in the precision of the format (measured on an H100).

- f32: the mean is rounded once, halves away from zero; f16 alike, to half precision.
- Normalized integers are averaged as counts of 1/65535, 1/32767 or, in 8-bit signed formats, 1/127.  The mean is a
  whole count of 1/65535 or 1/32767, halves up.  A signed 8-bit count is 258 + 1/128 of 16-bit ones.
- ``tld4`` returns texels of 8-bit signed formats as counts of 1/32767 too.
"""

from __future__ import annotations

import struct
from typing import Any

from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import FLOATS, WORDS
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value, lanes_of
from warpreg.simt.texture.state import Format

DOUBLES, LONGS = lanes_of(ir.DoubleType()), lanes_of(I64)
SINGLE_DROPS, HALF_DROPS = 29, 42
"""Fraction bits of double precision beyond those of f32 and f16."""
MIN_HALF, HALF_STEP = 2.0**-14, 2.0**-24
"""The least normal f16, and the step between f16 below it."""
WIDENING = 258 + 1 / 128


def counter(module: Any) -> Any:
    """``words(words, format)``: f32 texels as what is averaged, defined in a module on first use."""

    def body(code: Code, texel: Value, kind: Value) -> None:
        for format_, largest in COUNTS.items():
            with code.if_(kind == format_):
                code.ret(fp.nearest(fp.mul(texel, fp.number(code, largest))).bitcast(WORDS))
        code.ret(texel.bitcast(WORDS))

    return _defined(module, "count", body)


COUNTS = {Format.UNORM8: 65535, Format.UNORM16: 65535, Format.SNORM16: 32767, Format.SNORM8: 127}


def product(weight: Value, texel: Value) -> Value:
    """A weight in 256ths times a texel (f32 bits), exact in double precision."""
    double = [_double(v) for v in (weight, texel.bitcast(FLOATS))]
    return Value(weight.code, weight.code.builder.fmul(*(v.llvm for v in double)))


def total(a: Value, b: Value) -> Value:
    return Value(a.code, a.code.builder.fadd(a.llvm, b.llvm))


def mean(module: Any) -> Any:
    """``words(doubles, format)``: f32 bits of a sum of products, defined in a module on first use."""
    if "mean" in module.globals:
        return module.globals["mean"]
    code = Code(module, "mean", WORDS, [DOUBLES, I32])
    _private(code)
    summed, kind = code.arguments
    value = _times(summed, 1 / 256)
    with code.if_((kind == Format.UNORM8) | (kind == Format.UNORM16)):
        code.ret(_count(value, 65535).bitcast(WORDS))
    with code.if_(kind == Format.SNORM8):
        code.ret(_count(_times(value, WIDENING), 32767).bitcast(WORDS))
    with code.if_(kind == Format.SNORM16):
        code.ret(_count(value, 32767).bitcast(WORDS))
    with code.if_(kind == Format.HALF):
        steps = _rounding("floor", _plus(_times(_magnitude(value), 1 / HALF_STEP), 0.5))
        small = _with_sign(_times(steps, HALF_STEP), value)
        below = Value(code, code.builder.fcmp_ordered("<", _magnitude(value).llvm, _constant(code, MIN_HALF).llvm))
        code.ret(_single(below.select(small, _shortened(value, HALF_DROPS))).bitcast(WORDS))
    code.ret(_single(_shortened(value, SINGLE_DROPS)).bitcast(WORDS))
    return code.function


def gathered(module: Any) -> Any:
    """``words(words, format)``: a texel as ``tld4`` returns it, defined in a module on first use."""

    def body(code: Code, texel: Value, kind: Value) -> None:
        with code.if_(kind == Format.SNORM8):
            counts = fp.nearest(fp.mul(texel, fp.number(code, 127)))
            code.ret(_count(_times(_double(counts), WIDENING), 32767).bitcast(WORDS))
        code.ret(texel.bitcast(WORDS))

    return _defined(module, "gathered", body)


def _defined(module: Any, name: str, body: Any) -> Any:
    if name in module.globals:
        return module.globals[name]
    code = Code(module, name, WORDS, [WORDS, I32])
    _private(code)
    texel, kind = code.arguments
    body(code, texel.bitcast(FLOATS), kind)
    return code.function


def _private(code: Code) -> None:
    code.function.linkage = "internal"
    code.function.attributes.add("noinline")


def _count(value: Value, largest: int) -> Value:
    """The nearest whole number, halves up, as a part of the ``largest`` (f32)."""
    return fp.div(_single(_rounding("floor", _plus(value, 0.5))), fp.number(value.code, largest))


def _shortened(value: Value, bits: int) -> Value:
    """A number without the last ``bits`` of its fraction, rounded, halves away from zero."""
    pattern = value.bitcast(LONGS)
    return (((pattern + (1 << bits - 1)) >> bits) << bits).bitcast(DOUBLES)


def _constant(code: Code, number: float) -> Value:
    return code.const(LONGS, struct.unpack("<Q", struct.pack("<d", number))[0]).bitcast(DOUBLES)


def _times(value: Value, factor: float) -> Value:
    return Value(value.code, value.code.builder.fmul(value.llvm, _constant(value.code, factor).llvm))


def _plus(value: Value, number: float) -> Value:
    return Value(value.code, value.code.builder.fadd(value.llvm, _constant(value.code, number).llvm))


def _magnitude(value: Value) -> Value:
    return _rounding("fabs", value)


def _with_sign(value: Value, sign: Value) -> Value:
    return (value.bitcast(LONGS) | (sign.bitcast(LONGS) & (1 << 63))).bitcast(DOUBLES)


def _rounding(name: str, value: Value) -> Value:
    return value.code.intrinsic(f"llvm.{name}.v32f64", DOUBLES, [value])


def _double(value: Value) -> Value:
    return Value(value.code, value.code.builder.fpext(value.llvm, DOUBLES))


def _single(value: Value) -> Value:
    return Value(value.code, value.code.builder.fptrunc(value.llvm, FLOATS))
