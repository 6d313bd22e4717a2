"""Keeps truth values that several paths merge in predicates.

Front ends merge truth values in registers: each path moves 0 or 1, or selects it by a predicate, and the value is
tested where the paths have met.  If all writes and reads of a register are such, a predicate takes its place; the
allocator puts it into a register only if no predicate is free.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.types import PRED

BITS = (Immediate(0), Immediate(1))


@dataclass(frozen=True)
class MergePredicates:
    """``selp r, 1, 0, p`` on one path, ``mov r, 0`` on another, ``setp.ne q, r, 0`` behind: ``mov.pred`` of a predicate
    in the place of r."""

    def run(self, kernel: Kernel) -> Kernel:
        accesses: dict[str, list[bool]] = defaultdict(list)
        for instruction in kernel.instructions():
            for register in instruction.defined:
                accesses[register.name].append(_copied(instruction) is not None)
            for register in instruction.used:
                accesses[register.name].append(_tested(instruction) is not None)
        truths = {name for name, known in accesses.items() if all(known)}
        if not truths:
            return kernel
        bodies = {b.index: [_replaced(i, truths) for i in b.instructions] for b in kernel.blocks}
        return with_blocks(kernel, bodies)


def _replaced(instruction: Instruction, truths: set[str]) -> Instruction:
    """The instruction with predicates in the place of ``truths``."""
    copied = _copied(instruction)
    if copied and instruction.defined[0].name in truths:
        return _move(instruction, _predicate(instruction.defined[0]), *copied)
    tested = _tested(instruction)
    if tested and tested[0].name in truths:
        return _move(instruction, instruction.operands[0], _predicate(tested[0]), tested[1])
    return instruction


def _copied(instruction: Instruction) -> tuple[Operand, bool] | None:
    """The predicate or bit that an instruction moves into a register as 1 or 0, and whether negated."""
    if instruction.opcode == "mov" and len(instruction.operands) == 2 and isinstance(instruction.operands[0], Register):
        value = instruction.operands[1]
        return (value, False) if value in BITS and not instruction.operands[0].is_predicate else None
    if instruction.opcode != "selp" or not isinstance(instruction.operands[3], Register):
        return None
    values = instruction.operands[1:3]
    return (instruction.operands[3], values == BITS) if values in (BITS, BITS[::-1]) else None


def _tested(instruction: Instruction) -> tuple[Register, bool] | None:
    """The register that an instruction compares with 0 or 1, and whether 0 makes the result true."""
    modifiers = instruction.modifiers
    if instruction.opcode != "setp" or len(modifiers) != 2 or modifiers[0] not in ("eq", "ne"):
        return None
    target, tested, bound = instruction.operands
    if not isinstance(target, Register) or not isinstance(tested, Register) or bound not in BITS:
        return None
    kind = instruction.types[0]
    return (tested, (modifiers[0] == "eq") == (bound == BITS[0])) if kind.is_integer or kind.name[0] == "b" else None


def _move(template: Instruction, target: Operand, source: Operand, negated: bool) -> Instruction:
    return replace(template, opcode="not" if negated else "mov", modifiers=("pred",), operands=(target, source))


def _predicate(register: Register) -> Register:
    return Register(f"{register.name}.truth", PRED)
