"""Selects the level of detail of a fetch: the texture's level nearest to the requested one.

A gradient requests the level in which the longer of the two steps is about one texel long.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.ir.address_space import TEXTURE_WINDOW
from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import I64, Value, lanes_of
from warpreg.simt.texture.state import RECORD_BYTES

MOST = 64
"""A bound above the number of levels of any texture."""

EXPONENT_BIAS = 127


def nearest(level: Value, is_float: bool) -> Value:
    """A requested level, f32 or s32 bits, as an integer that may be out of range; halves round up."""
    if not is_float:
        return level
    code = level.code
    within = fp.at_most(fp.at_least(level.bitcast(fp.FLOATS), fp.number(code, 0.0)), fp.number(code, MOST))
    return fp.to_integer(fp.floor(fp.add(within, fp.number(code, 0.5))))


def of_gradients(dx: Sequence[Value], dy: Sequence[Value], extents: Sequence[Value]) -> Value:
    """The level of two steps in normalized coordinates (f32 bits); ``extents`` are those of the first level.

    The nearest integer to log2 of a length is half the exponent, rounded down, of twice its square.
    """
    lengths = [_squared(step, extents) for step in (dx, dy)]
    twice = fp.mul(fp.at_least(*lengths), fp.number(dx[0].code, 2.0)).bitcast(WORDS)
    exponent = ((twice >> 23) & 0xFF) - EXPONENT_BIAS
    return Value(twice.code, twice.code.builder.ashr(exponent.llvm, twice.code.const(WORDS, 1).llvm))


def _squared(step: Sequence[Value], extents: Sequence[Value]) -> Value:
    parts = [fp.mul(d.bitcast(fp.FLOATS), fp.from_unsigned(n)) for d, n in zip(step, extents, strict=True)]
    first, *others = [fp.mul(part, part) for part in parts]
    for other in others:
        first = fp.add(first, other)
    return first


def handles(first: Value, level: Value, count: Value, smaller: Value) -> Value:
    """The handle of each lane's level (i64); ``count`` and ``smaller`` are fields of the records of ``first``."""
    code, wide = first.code, lanes_of(I64)
    nothing = code.const(WORDS, 0)
    last = (count == 0).select(nothing, count - 1)
    before = Value(code, code.builder.icmp_signed("<", level.llvm, nothing.llvm))
    past = Value(code, code.builder.icmp_signed(">", level.llvm, last.llvm))
    chosen = before.select(nothing, past.select(last, level))
    further = (smaller + (chosen - 1) * RECORD_BYTES + TEXTURE_WINDOW).zext(wide)
    return (chosen == 0).select(first, further)
