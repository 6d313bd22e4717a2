"""Folds additions of constants into the offset of the memory operands that use the sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, Immediate, Operand, Register

OFFSET_SPACES = frozenset({"shared", "local"})


@dataclass(frozen=True)
class FoldAddresses:
    """``add r, x, 8; ld [r+4]`` reads ``[x+12]``; a constant shared or local address needs no register.

    ``offset_bits``: width of the signed offset field of the machine's memory instructions.
    """

    offset_bits: int = 24

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Addresses(Tracker(single_definitions(kernel)), 1 << (self.offset_bits - 1)))


class _Addresses:
    def __init__(self, tracker: Tracker, limit: int) -> None:
        self.tracker = tracker
        self.limit = limit
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if any(isinstance(o, Address) for o in instruction.operands):
            spaced = bool(OFFSET_SPACES.intersection(m.split("::")[0] for m in instruction.modifiers))
            operands = tuple(self._folded(o, spaced) for o in instruction.operands)
            if operands != instruction.operands:
                instruction = replace(instruction, operands=operands)
        self.tracker.add(instruction)
        return (instruction,)

    def _folded(self, operand: Operand, spaced: bool) -> Operand:
        while isinstance(operand, Address):
            definition = self.tracker.definition(operand.base)
            if definition is None:
                break
            maker = definition.instruction
            base, constant = _sum(maker)
            if base is None or not self.tracker.holds(base, definition):
                break
            offset = operand.offset + constant
            if isinstance(base, Immediate):
                return Address(Immediate(base.value + offset)) if spaced else operand
            if not -self.limit <= offset < self.limit:
                break
            operand = Address(base, offset)
        return operand


def _sum(instruction: Instruction) -> tuple[Register | Immediate | None, int]:
    """The register and the constant that an instruction adds, or its constant and 0; None if it is no such sum."""
    if instruction.opcode == "mov" and isinstance(instruction.operands[1], Immediate):
        return instruction.operands[1], 0
    if instruction.opcode != "add" or len(instruction.modifiers) != 1 or not instruction.types[-1].is_integer:
        return None, 0
    base, constant = instruction.operands[1:3]
    if isinstance(base, Register) and isinstance(constant, Immediate):
        return base, constant.value
    return None, 0
