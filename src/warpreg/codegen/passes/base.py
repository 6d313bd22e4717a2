"""What a pass is, and the ways in which passes walk and rebuild a kernel.

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
        """The transformed kernel; the argument is left as it was."""
        ...


def with_blocks(kernel: Kernel, bodies: Mapping[int, Iterable[Instruction]]) -> Kernel:
    """The kernel with other instructions in some blocks, and no analyses yet."""
    blocks = tuple(
        replace(block, instructions=tuple(bodies[block.index])) if block.index in bodies else block
        for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks, analyses={})


class Visitor(Protocol):
    """What `rewrite` asks about each block and instruction."""

    def enter(self, block: int) -> None:
        """A block begins."""
        ...

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        """What stands for the instruction."""
        ...


def rewrite(kernel: Kernel, visitor: Visitor) -> Kernel:
    """The kernel with each instruction replaced by what ``visitor`` gives.

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
    """A singly assigned register's instruction as rewritten so far, and where it stands."""

    instruction: Instruction
    block: int
    position: int


class Tracker:
    """Definitions seen so far in a forward walk, and whether what they read still holds the same value."""

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
        """Note an instruction that now stands in the kernel."""
        self._position += 1
        for register in instruction.defined:
            if register.name in self.single:
                self.definitions[register.name] = Definition(instruction, self._block, self._position)
            else:
                self._written[register.name] = self._position

    def definition(self, operand: Operand) -> Definition | None:
        """The unguarded single definition of a register operand."""
        return self.definitions.get(operand.name) if isinstance(operand, Register) else None

    def holds(self, operand: Operand, since: Definition) -> bool:
        """Whether reading ``operand`` now gives what it gave at ``since``."""
        if not isinstance(operand, Register) or operand.name in self.single:
            return True
        return since.block == self._block and self._written.get(operand.name, 0) < since.position
