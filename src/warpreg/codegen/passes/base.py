"""The interface of a pass, and helpers that walk and rewrite a kernel.

A pass is a frozen dataclass whose fields are its options; ``run`` returns a new kernel with the same blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.definitions import SingleDefinitions
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register


class Pass(Protocol):
    """A transformation of kernels that keeps block ids and successors."""

    def run(self, kernel: Kernel) -> Kernel:
        """The transformed kernel; the argument is not modified."""
        ...


def with_blocks(kernel: Kernel, bodies: Mapping[int, Iterable[Instruction]]) -> Kernel:
    """The kernel with other instructions in some blocks, and no cached analyses."""
    blocks = tuple(
        replace(block, instructions=tuple(bodies[block.index])) if block.index in bodies else block
        for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks, analyses={})


class Visitor(Protocol):
    """The callbacks of `rewrite`."""

    def enter(self, block: int) -> None:
        """A block begins."""
        ...

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        """The replacement of the instruction."""
        ...


def rewrite(kernel: Kernel, visitor: Visitor) -> Kernel:
    """The kernel with each instruction replaced by the result of ``visitor``.

    Blocks come in reverse postorder, so a visitor sees the definition of a singly assigned register before its reads.
    """
    bodies: dict[int, list[Instruction]] = {}
    for index in control_flow(kernel).reverse_postorder:
        visitor.enter(index)
        body: list[Instruction] = []
        for instruction in kernel.blocks[index].instructions:
            body.extend(visitor.visit(instruction))
        bodies[index] = body
    return with_blocks(kernel, bodies)


@dataclass(frozen=True, slots=True)
class Definition:
    """The instruction that defines a singly assigned register, as rewritten so far, and its position."""

    instruction: Instruction
    block: int
    position: int


class Tracker:
    """Definitions seen so far in a forward walk, and whether their operands still have the same values."""

    def __init__(self, single: SingleDefinitions) -> None:
        self.single = single
        self.definitions: dict[str, Definition] = {}
        self._block = -1
        self._position = 0
        self._written: dict[str, int] = {}

    def enter(self, block: int) -> None:
        self._block = block
        self._written.clear()

    def add(self, instruction: Instruction) -> None:
        """Record an instruction of the rewritten kernel."""
        self._position += 1
        for register in instruction.defined:
            if register.name in self.single:
                self.definitions[register.name] = Definition(instruction, self._block, self._position)
            else:
                self._written[register.name] = self._position

    def definition(self, operand: Operand) -> Definition | None:
        """The unguarded single definition of a register operand."""
        return self.definitions.get(operand.name) if isinstance(operand, Register) else None

    def own(self, operand: Operand) -> Definition | None:
        """The definition in this block of a register that one operand reads, and that can be merged into its reader."""
        found = self.definition(operand)
        if found is None or found.block != self._block or not isinstance(operand, Register):
            return None
        return found if self.single.reads[operand.name] == 1 else None

    def holds(self, operand: Operand, since: Definition) -> bool:
        """Whether ``operand`` still has the value that it had at ``since``."""
        if not isinstance(operand, Register) or operand.name in self.single:
            return True
        return since.block == self._block and self._written.get(operand.name, 0) < since.position
