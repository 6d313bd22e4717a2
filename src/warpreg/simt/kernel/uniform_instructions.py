"""Instructions of the uniform datapath of machine code, computed once for a warp instead of in every lane.

An instruction whose registers all belong to the warp, and that only computes, becomes code for one lane.  Its results
are kept as scalars; an instruction that uses one in all lanes broadcasts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.opcodes.sass.source_modifiers import SIGN, modified
from warpreg.ir.operands import ConstantBank, Immediate, ModifiedOperand, Not, Operand, Register, Sink, Special
from warpreg.ir.types import U32, Type
from warpreg.simt.block.block_values import UNIFORM_SPECIALS
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.lanes.constants import LaneConstant
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import Value

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body

KNOWN = Register, Not, Immediate, ConstantBank, Special, ModifiedOperand


def is_uniform(body: Body, instruction: Instruction, pc: int) -> bool:
    """Whether an instruction can be computed for one lane."""
    storage, (row, form) = body.compiler.storage, opcodes.resolve(instruction)
    written, read = storage.written[pc], storage.read[pc]
    if body.widths or not written or not all(cell.is_uniform for cell in (*written, *read)):
        return False
    carries = row.reads_carry or row.writes_carry
    whole = not any(type_.is_float for type_ in (*form.signature.sources, *form.signature.results))
    pure = row.meaning is not None and whole and not (row.lanes or row.outlined or carries)
    return pure and all(_is_known(operand) for operand in opcodes.flattened(instruction.sources))


def _is_known(operand: Operand) -> bool:
    if isinstance(operand, Special):
        return operand.name in UNIFORM_SPECIALS
    return isinstance(operand, KNOWN)


def emit(body: Body, instruction: Instruction, pc: int) -> None:
    """Compute an instruction for which `is_uniform` holds."""
    row, form = opcodes.resolve(instruction)
    assert row.meaning is not None
    lanes = lane_instructions.algebra(body.code.builder, body.code.module, 1)
    rows = iter(body.compiler.cells_of_sources(instruction, pc))
    sources = []
    for operand, type_ in zip(opcodes.flattened(instruction.sources), form.signature.sources, strict=True):
        cells = tuple(cell for _ in registers_of(operand) for cell in next(rows))
        value = _source(body, operand, type_, cells, instruction)
        sources.append(lane_instructions.fit(lanes, value, type_, type_.bits))
    found = row.meaning(lanes, form, *sources)
    results = list(found) if isinstance(found, tuple) else [found]
    cells_of_results = iter(body.compiler.cells_in(body.compiler.storage.written[pc], instruction.results))
    slots, types = opcodes.flattened(instruction.results), form.signature.results
    guard = body.guard(instruction, pc)
    for slot_, type_, result in zip(slots, types, results[: len(slots)], strict=True):
        if isinstance(slot_, Sink):
            continue
        target = next(cells_of_results)
        write(body, target, _scalar(body, lane_instructions.fit(lanes, result, type_, bits_of(target))), guard)


def bits_of(cells: tuple[Cell, ...]) -> int:
    """The bits of a register by its cells."""
    return cells[0].bits if len({*cells}) == 1 else 32 * len(cells)


def _source(body: Body, operand: Operand, type_: Type, cells: tuple[Cell, ...], instruction: Instruction) -> Any:
    """A source operand for one lane."""
    values = body.values
    if isinstance(operand, Immediate):
        return LaneConstant(type_.bits, (lane_instructions.immediate_bits(operand, type_),))
    if isinstance(operand, ConstantBank):
        return _lane(values.bank(operand, type_, instruction))
    if isinstance(operand, Special):
        return _lane(values.resized_scalar(values.field(UNIFORM_SPECIALS[operand.name]), type_.bits))
    lanes = lane_instructions.algebra(body.code.builder, body.code.module, 1)
    if isinstance(operand, ModifiedOperand):
        inner = U32 if operand.part == SIGN else type_
        value = _source(body, operand.operand, inner, cells, instruction)
        return modified(lanes, operand, type_, value, opcodes.resolve(instruction)[0].keeps_signs)
    value = _lane(values.resized_scalar(values.scalar_register(cells), type_.bits))
    return lanes.xor(value, lanes.constant(1, 1)) if isinstance(operand, Not) else value


def _lane(scalar: Value) -> Any:
    """A scalar as a vector of one lane."""
    return scalar.bitcast(ir.VectorType(scalar.type, 1)).llvm


def _scalar(body: Body, lane: Any) -> Value:
    """The scalar of a vector of one lane."""
    return Value(body.code, lane).bitcast(lane.type.element)


def write(body: Body, cells: tuple[Cell, ...], result: Value, guard: Value | None) -> None:
    """Write a number to a uniform register; ``guard`` holds in all lanes or in none."""
    values = body.values
    for position, cell in enumerate(dict.fromkeys(cells)):
        part = (result >> 32 * position if position else result).trunc(ir.IntType(cell.bits))
        if guard is not None:
            held = guard.lane(0)
            part = Value(body.code, body.code.builder.select(held.llvm, part.llvm, values.scalar(cell).llvm))
        values.set_scalar(cell, part)
