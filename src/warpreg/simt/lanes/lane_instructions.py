"""Instructions without memory or control as LLVM code for 32 lanes, made from the meanings in `warpreg.ir.opcodes`.

Register values are vectors of bits ``<32 x iN>`` at the register's width, predicates ``<32 x i1>``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol

from warpreg.ir import opcodes
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Register
from warpreg.ir.types import Type
from warpreg.simt.lanes import nans, outlined
from warpreg.simt.lanes.algebra import LANES
from warpreg.simt.lanes.constants import LaneConstant
from warpreg.simt.lanes.float import VectorLanes


class Context(Protocol):
    """The context of generated code.  ``active``: mask of active lanes, None if all are; ``carry``: carry flags.

    Setting ``carry`` stores a full vector: the context must preserve the flags of lanes that do not execute.
    """

    @property
    def builder(self) -> Any:
        """The llvmlite IRBuilder."""

    @property
    def module(self) -> Any:
        """The llvmlite Module, which also receives private functions."""

    @property
    def active(self) -> Any | None:
        """``<32 x i1>`` or None."""

    @property
    def carry(self) -> Any:
        """``<32 x i1>``."""

    @carry.setter
    def carry(self, value: Any) -> None: ...


def algebra(builder: Any, module: Any, lanes: int = LANES) -> VectorLanes:
    """The algebra over vectors of ``lanes`` lanes; one lane is used for an atomic's ``update``."""
    return VectorLanes(builder, module, lanes)


def constant(type_: Type, value: int) -> Any:
    """The same bits in every lane, as a constant that operations can fold."""
    return LaneConstant(type_.bits, (value & (1 << type_.bits) - 1,) * LANES)


def immediate(operand: Immediate, type_: Type) -> Any:
    """A constant operand as a value of a slot's type; a floating-point constant is rounded to it."""
    return constant(type_, immediate_bits(operand, type_))


def immediate_bits(operand: Immediate, type_: Type) -> int:
    """The bits of a constant operand in a slot of that type."""
    if not type_.is_float or ((type_.bits < 32 or type_.lanes > 1) and operand.form == "int"):
        return operand.value & (1 << type_.bits) - 1
    if operand.form == f"f{type_.bits}":
        return operand.value
    if type_.name == "bf16":
        return _nearest_bf16(operand.as_float)
    packed = struct.pack({16: "<e", 32: "<f", 64: "<d"}[type_.bits], operand.as_float)
    return int.from_bytes(packed, "little")


def _nearest_bf16(value: float) -> int:
    """A constant rounded through single precision, ties to even."""
    single = int.from_bytes(struct.pack("<f", value), "little")
    return single + 0x7FFF + (single >> 16 & 1) >> 16


def fit(lanes: VectorLanes, value: Any, type_: Type, bits: int) -> Any:
    """A value of ``type_`` at another width: truncated, or extended by its signedness."""
    width = lanes.width(value)
    if bits == width:
        return value
    if bits < width:
        return lanes.trunc(value, bits)
    return lanes.sext(value, bits) if type_.is_signed else lanes.zext(value, bits)


def emit(context: Context, instruction: Instruction, sources: Sequence[Any]) -> tuple[Any, ...]:
    """Compile one instruction; returns the values of its flattened result slots, at the width of their registers.

    ``sources`` are the values of its flattened source slots, at least as wide as the slot's type.  All lanes are
    computed; the caller preserves inactive and guarded-off lanes.  Raises UnsupportedError for an instruction that the
    table does not contain, or that has only an effect.
    """
    row, form = opcodes.resolve(instruction)
    if row.meaning is None:
        raise UnsupportedError(instruction.full_opcode, instruction.location, "has no arithmetic meaning")
    lanes = algebra(context.builder, context.module)
    operands = [
        nans.without_canonical(form, fit(lanes, v, t, t.bits), t)
        for v, t in zip(sources, form.signature.sources, strict=True)
    ]
    if row.lanes:
        operands.insert(0, lanes.constant(1, 1) if context.active is None else context.active)
    if row.reads_carry:
        operands.append(context.carry)
    values = _outlined(context, row, form, operands) if row.outlined else row.meaning(lanes, form, *operands)
    results = list(values) if isinstance(values, tuple) else [values]
    if row.writes_carry:
        context.carry = results.pop()
    slots = opcodes.flattened(instruction.results)
    return tuple(
        fit(lanes, v, t, s.type.bits) if isinstance(s, Register) else v
        for v, t, s in zip(results[: len(slots)], form.signature.results, slots, strict=True)
    )


def _outlined(context: Context, row: opcodes.Opcode, form: opcodes.Form, operands: Sequence[Any]) -> Any:
    """Call the instruction's semantics as a private function of the module; it has one result."""
    meaning = row.meaning
    assert meaning is not None
    lanes = algebra(context.builder, context.module)

    def build(builder: Any, made: Any) -> None:
        builder.ret(meaning(algebra(builder, context.module), form, *made.args))

    name = ".".join(("warpreg", form.opcode, *form.modifiers))
    result = lanes.vector(form.signature.results[0].bits)
    function = outlined.function(context.module, name, result, [o.type for o in operands], build)
    return context.builder.call(function, operands)
