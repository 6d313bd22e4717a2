"""Decodes elements of a matrix register: words of bits and integer sums as i32, all others exactly as doubles."""

from __future__ import annotations

from typing import Any

from warpreg.ir.opcodes.arithmetic.floating import number
from warpreg.ir.opcodes.arithmetic.sixteen_bit import BF16, F16, widened
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.lanes.float import VectorLanes
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import LANES, Code, Value

DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
WORDS = frozenset({"s32", "b1"})
SMALL = frozenset({"s8", "u8", "s4", "u4"})
HALVES = {"f16": F16, "bf16": BF16}

TF32_MASK = 0xFFFFE000
"""The bits of a register that a tf32 number uses."""


def decoded(code: Code, register: Value, kind: str, packed: int) -> list[Value]:
    """The ``packed`` elements of a register, lowest bits first, of 32 lanes each."""
    if kind == "f64":
        return [register.bitcast(DOUBLES)]
    if kind in WORDS:
        return [register]
    algebra = lane_instructions.algebra(code.builder, code.module)
    width = 32 // packed
    return [Value(code, _number(algebra, register.llvm, kind, index * width, width)) for index in range(packed)]


def _number(m: VectorLanes, register: Any, kind: str, first: int, width: int) -> Any:
    if kind in SMALL:
        up, down = m.constant(32, 32 - width - first), m.constant(32, 32 - width)
        raised = m.shl(register, up)
        whole = m.ashr(raised, down) if kind.startswith("s") else m.lshr(raised, down)
        return m.builder.sitofp(whole, DOUBLES)
    return m.builder.fpext(m.as_float(_single(m, register, kind, first, width)), DOUBLES)


def _single(m: VectorLanes, register: Any, kind: str, first: int, width: int) -> Any:
    if kind == "f32":
        return register
    if kind == "tf32":
        return m.and_(register, m.constant(32, TF32_MASK))
    bits = m.trunc(m.lshr(register, m.constant(32, first)), width)
    if kind == "e5m2":
        return widened(m, F16, m.shl(m.zext(bits, 16), m.constant(16, 8)))
    return _e4m3(m, bits) if kind == "e4m3" else widened(m, HALVES[kind], bits)


def _e4m3(m: VectorLanes, a: Any) -> Any:
    """Shift exponent and mantissa into position and correct the exponent by a multiplication; e4m3 has no infinities
    and one NaN of each sign."""
    wide = m.zext(a, 32)
    size, sign = m.and_(wide, m.constant(32, 0x7F)), m.shl(m.and_(wide, m.constant(32, 0x80)), m.constant(32, 24))
    scaled = m.fmul(m.shl(size, m.constant(32, 20)), number(m, 32, 2.0**120))
    nan = m.eq(size, m.constant(32, 0x7F))
    return m.select(nan, m.constant(32, 0x7FFFFFFF), m.or_(scaled, sign))
