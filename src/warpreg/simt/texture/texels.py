"""Native reads of one channel of a texel per lane, in every format, as 32 bits: an integer, or the bits of an f32.

Normalized formats are divided by their largest value and clamped to at least -1; half precision is widened.
"""

from __future__ import annotations

from typing import Any

from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import I8, I16, I32, I64, LANES, MASK, Code, Value
from warpreg.simt.memory.gather_scatter import gather
from warpreg.simt.texture.state import Format

NAME = "texel"


def reader(module: Any) -> Any:
    """``words(base, offsets, mask, format)``, defined in a module on first use: 0 in inactive lanes.

    ``base`` is a host address (i64), ``offsets`` are bytes below 2**31, ``format`` an i32.
    """
    if NAME in module.globals:
        return module.globals[NAME]
    code = Code(module, NAME, WORDS, [I64, WORDS, I32, I32])
    code.function.linkage = "internal"
    code.function.attributes.add("noinline")
    base, offsets, mask, kind = code.arguments
    lanes = mask.bitcast(MASK)
    whole = (kind == Format.FLOAT) | (kind == Format.SIGNED32) | (kind == Format.UNSIGNED32)
    with code.if_(whole, likely=True):
        _row(code, base, offsets, mask)
        code.ret(gather(code, base, offsets, mask, lanes, I32))
    bytes_ = (kind == Format.SNORM8) | (kind == Format.UNORM8) | (kind == Format.SIGNED8) | (kind == Format.UNSIGNED8)
    with code.if_(bytes_):
        _narrow(code, gather(code, base, offsets, mask, lanes, I8), kind, Format.UNSIGNED8, Format.SIGNED8)
    _narrow(code, gather(code, base, offsets, mask, lanes, I16), kind, Format.UNSIGNED16, Format.SIGNED16)
    code.builder.unreachable()
    return code.function


def _row(code: Code, base: Value, offsets: Value, mask: Value) -> None:
    """Return all lanes with one load if they are contiguous."""
    first = offsets.lane(0)
    ramp = code.const(WORDS, [4 * lane for lane in range(LANES)])
    beside = ((offsets == first.splat() + ramp).bitcast(I32) & mask) == 0xFFFFFFFF
    with code.if_(beside):
        code.ret((base + first.zext(I64)).load(WORDS, align=4))


def _narrow(code: Code, raw: Value, kind: Value, unsigned: Format, signed: Format) -> None:
    """Return bytes or halves according to ``kind``."""
    bits = raw.type.element.width
    positive, either = raw.zext(WORDS), raw.sext(WORDS)
    if unsigned is Format.UNSIGNED16:
        with code.if_(kind == Format.HALF):
            code.ret(_half(code, positive))
    with code.if_(kind == unsigned):
        code.ret(positive)
    with code.if_(kind == signed):
        code.ret(either)
    unorm = Format.UNORM8 if bits == 8 else Format.UNORM16
    with code.if_(kind == unorm):
        code.ret(fp.div(fp.from_unsigned(positive), fp.number(code, (1 << bits) - 1)).bitcast(WORDS))
    fraction = fp.div(fp.from_signed(either), fp.number(code, (1 << bits - 1) - 1))
    code.ret(fp.at_least(fraction, fp.number(code, -1.0)).bitcast(WORDS))
    code.builder.position_at_end(code.builder.append_basic_block("past"))


def _half(code: Code, bits: Value) -> Value:
    """Half precision as single: a shift and an exact product; infinities and NaNs are handled separately."""
    magnitude = (bits & 0x7FFF) << 13
    number = fp.mul(magnitude.bitcast(fp.FLOATS), fp.number(code, 2.0**112)).bitcast(WORDS)
    special = (bits & 0x7C00) == 0x7C00
    return special.select(magnitude | 0x7F80_0000, number) | ((bits & 0x8000) << 16)
