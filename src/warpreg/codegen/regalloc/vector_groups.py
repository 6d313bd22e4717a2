"""Copies registers that two vector accesses need at different positions, so that each can have its aligned group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.regalloc.allocation_units import vector_groups, vectors
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import AddressTuple, Operand, Pair, Register, Vector

Group = tuple[Operand, ...]


@dataclass(frozen=True)
class IsolateVectors:
    """Ensure that a register is in at most one vector group, at one position."""

    def run(self, kernel: Kernel) -> Kernel:
        groups = _Groups()
        bodies: dict[int, list[Instruction]] = {}
        for block in kernel.blocks:
            bodies[block.index] = [new for old in block.instructions for new in groups.visit(old)]
        return with_blocks(kernel, bodies) if groups.copies else kernel


@dataclass
class _Groups:
    group_of: dict[str, Group] = field(default_factory=dict)
    copies: int = 0

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        before: list[Instruction] = []
        after: list[Instruction] = []
        for number in range(len(list(vector_groups(instruction)))):
            elements = list(vector_groups(instruction))[number]
            names = [e.name for e in elements if isinstance(e, Register)]
            if any(self.group_of.get(name) != elements for name in names) or len(set(names)) < len(names):
                instruction, earlier, later = self._isolated(instruction, elements)
                before += earlier
                after += later
        return (*before, instruction, *after)

    def _isolated(
        self, instruction: Instruction, elements: Group
    ) -> tuple[Instruction, list[Instruction], list[Instruction]]:
        is_result = any(v.elements is elements for v in vectors(instruction.results))
        before: list[Instruction] = []
        after: list[Instruction] = []
        chosen: list[Operand] = []
        for element in elements:
            if isinstance(element, Register) and (element.name in self.group_of or element in chosen):
                fresh = replace(element, name=f"{element.name}.v{self.copies}")
                self.copies += 1
                if not is_result or instruction.guard:
                    before.append(_move(instruction, fresh, element))
                if is_result:
                    after.append(_move(instruction, element, fresh))
                element = fresh
            chosen.append(element)
        group = tuple(chosen)
        self.group_of.update({e.name: group for e in group if isinstance(e, Register)})
        operands = tuple(_with(o, elements, Vector(group)) for o in instruction.operands)
        return replace(instruction, operands=operands), before, after


def _with(operand: Operand, elements: Group, vector: Vector) -> Operand:
    """The operand with the brace list of ``elements`` replaced by ``vector``."""
    if isinstance(operand, Vector):
        return vector if operand.elements is elements else operand
    if isinstance(operand, Pair):
        return Pair(_with(operand.first, elements, vector), operand.second)
    if isinstance(operand, AddressTuple):
        return AddressTuple(tuple(_with(e, elements, vector) for e in operand.elements))
    return operand


def _move(template: Instruction, target: Register, source: Register) -> Instruction:
    modifiers = (f"b{target.type.bits}",)
    return replace(template, opcode="mov", modifiers=modifiers, operands=(target, source), guard=None)
