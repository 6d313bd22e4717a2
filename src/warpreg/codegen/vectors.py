"""Copies registers that two vector accesses want at different places, so that each access can have its aligned
group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from warpreg.codegen.passes import with_blocks
from warpreg.codegen.units import vector_groups
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register, Vector

Group = tuple[Operand, ...]


@dataclass(frozen=True)
class IsolateVectors:
    """Afterwards a register is in one vector group only, at one place."""

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
        for elements in vector_groups(instruction):
            names = [e.name for e in elements if isinstance(e, Register)]
            if all(self.group_of.get(name) == elements for name in names) and len(set(names)) == len(names):
                continue
            instruction, before, after = self._isolated(instruction, elements)
            return (*before, instruction, *after)
        return (instruction,)

    def _isolated(
        self, instruction: Instruction, elements: Group
    ) -> tuple[Instruction, list[Instruction], list[Instruction]]:
        is_result = any(isinstance(o, Vector) and o.elements is elements for o in instruction.results)
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
        operands = tuple(
            Vector(group) if isinstance(o, Vector) and o.elements is elements else o for o in instruction.operands
        )
        return replace(instruction, operands=operands), before, after


def _move(template: Instruction, target: Register, source: Register) -> Instruction:
    modifiers = (f"b{target.type.bits}",)
    return replace(template, opcode="mov", modifiers=modifiers, operands=(target, source), guard=None)
