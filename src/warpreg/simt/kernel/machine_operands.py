"""Operands of an instruction of machine code that a block carries out itself: sources as lanes, results to cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.operands import Operand, Register
from warpreg.ir.types import Type
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm.emitter import Value
from warpreg.simt.memory.machine_access import Rows

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body

Target = tuple[Register, tuple[Cell, ...]]
"""A register that is written, and its cells."""


def sources(body: Body, instruction: Instruction, pc: int) -> list[tuple[Operand, Rows]]:
    """The source operands, each with the cells of its registers."""
    rows = iter(body.compiler.cells_of_sources(instruction, pc))
    operands = opcodes.flattened(instruction.sources)
    return [(operand, [next(rows) for _ in registers_of(operand)]) for operand in operands]


def value(body: Body, source: tuple[Operand, Rows], type_: Type, instruction: Instruction) -> Value:
    """A source operand as 32 lanes."""
    operand, rows = source
    return body.values.operand(operand, type_, tuple(cell for row in rows for cell in row), instruction)


def targets(body: Body, instruction: Instruction, pc: int) -> list[Target]:
    """The registers that an instruction writes, with their cells, predicates first."""
    rows = iter(body.compiler.cells_in(body.compiler.storage.written[pc], instruction.results))
    found = [(o, next(rows)) for o in opcodes.flattened(instruction.results) if isinstance(o, Register)]
    return sorted(found, key=lambda target: not target[0].is_predicate)


def write(
    body: Body,
    target: Target,
    results: list[Value],
    guard: Value | None,
    signed: bool = False,
) -> None:
    """Write a register: one value for all of it, or one for each of its words."""
    register, cells = target
    if register.is_uniform:
        results = [result.lane(body.first(body.values.mask)).splat() for result in results]
    apart = tuple(dict.fromkeys(cells))
    if body.widths and not register.is_predicate:
        numbers = body.numbering.of(register)
        parts = [results[0]] if len(results) == 1 else results
        share = len(numbers) // len(parts)
        for place, part in enumerate(parts):
            body.widths.record(numbers[place * share : (place + 1) * share], part, signed, guard)
    if len(results) == 1:
        body.values.write(cells, results[0], signed, guard)
        return
    for cell, result in zip(apart, results, strict=True):
        body.values.write((cell,), result, signed, guard)
