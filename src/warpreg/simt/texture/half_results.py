"""Converts the four rows of a fetch to the result slots of an instruction, rounding half-precision results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Register
from warpreg.ir.types import TYPES
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.llvm.emitter import Value


@dataclass
class _Straight:
    """A context of `lane_instructions.emit` without guard and carry."""

    builder: Any
    module: Any
    active: Any = None
    carry: Any = None


def as_halves(values: BlockValues, instruction: Instruction, rows: list[Value]) -> list[Value]:
    """``rows`` unchanged, or as ``f16``, or packed in two ``f16x2``, the first channel in the low half."""
    if "f16x2" in instruction.modifiers:
        return [_converted(values, instruction, "f16x2", [rows[i + 1], rows[i]]) for i in (0, 2)]
    if "f16" in instruction.modifiers:
        return [as_half(values, instruction, row) for row in rows]
    return rows


def as_half(values: BlockValues, instruction: Instruction, row: Value) -> Value:
    """Single precision (32 bits per lane) as half (16 bits per lane)."""
    return _converted(values, instruction, "f16", [row])


def _converted(values: BlockValues, instruction: Instruction, to: str, rows: list[Value]) -> Value:
    kind, single = TYPES[to], TYPES["f32"]
    operands = (Register("half", kind), *(Register(f"single{i}", single) for i in range(len(rows))))
    convert = Instruction("cvt", ("rn", to, "f32"), operands, location=instruction.location)
    context = _Straight(values.code.builder, values.code.module)
    (result,) = lane_instructions.emit(context, convert, [row.llvm for row in rows])
    return Value(values.code, result)
