"""Forms addresses ``[R.64+UR]`` and ``[UR]`` of global memory, as sm_75 has them.

A uniform register pair holds the address of an array, and an ordinary pair the distance from it, so one index serves
several arrays, and an address that is equal in all threads takes no ordinary register.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.codegen.passes.base import Tracker, rewrite, with_blocks
from warpreg.codegen.passes.legalize import constant_place
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import B64

SUMS = frozenset({("s64",), ("u64",)})


@dataclass(frozen=True)
class FormUniformAddresses:
    """``add r, x, c[0][8]; ld [r+4]`` reads ``[x+u+4]`` if all readers of r are such addresses; ``u`` is a move of the
    constant, which the allocator keeps in a uniform pair.  ``ld [c[0][8]+4]`` reads ``[u+4]``."""

    def run(self, kernel: Kernel) -> Kernel:
        addresses = _Addresses(kernel)
        changed = rewrite(kernel, addresses)
        if not addresses.bases:
            return kernel
        bodies = {block.index: list(block.instructions) for block in changed.blocks}
        for (block, is_late, _), move in addresses.bases.items():
            end = len(bodies[block]) - (changed.blocks[block].terminator is not None)
            bodies[block].insert(end if is_late else 0, move)
        return with_blocks(changed, bodies)


@dataclass
class _Addresses:
    """``bases`` are the moves of constants, by the place where they go."""

    kernel: Kernel
    bases: dict[tuple[int, bool, ConstantBank], Instruction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.single: SingleDefinitions = single_definitions(self.kernel)
        self.tracker = Tracker(self.single)
        self.block = 0
        self.addressed = Counter(
            o.base.name
            for i in self.kernel.instructions()
            if _is_global(i)
            for o in i.operands
            if isinstance(o, Address) and isinstance(o.base, Register)
        )

    def enter(self, block: int) -> None:
        self.block = block
        self.tracker.enter(block)

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if _is_global(instruction):
            operands = tuple(self._formed(o, instruction) for o in instruction.operands)
            if operands != instruction.operands:
                instruction = replace(instruction, operands=operands)
        self.tracker.add(instruction)
        return (instruction,)

    def _formed(self, operand: Operand, instruction: Instruction) -> Operand:
        if not isinstance(operand, Address) or operand.uniform:
            return operand
        if isinstance(operand.base, ConstantBank):
            return Address(Immediate(0), operand.offset, self._uniform(operand.base, instruction))
        definition = self.tracker.definition(operand.base)
        if definition is None or not isinstance(operand.base, Register):
            return operand
        index, constant = _sum(definition.instruction)
        name = operand.base.name
        if constant is None or self.single.reads[name] != self.addressed[name]:
            return operand
        if not self.tracker.holds(index, definition):
            return operand
        return Address(index, operand.offset, self._uniform(constant, instruction))

    def _uniform(self, constant: ConstantBank, template: Instruction) -> Register:
        key = (*constant_place(self.kernel, self.block), constant)
        if key not in self.bases:
            register = Register(f"%u${len(self.bases)}", B64)
            operands = (register, constant)
            self.bases[key] = replace(template, opcode="mov", modifiers=("b64",), operands=operands, guard=None)
        target = self.bases[key].operands[0]
        assert isinstance(target, Register)
        return target


def _is_global(instruction: Instruction) -> bool:
    return instruction.traits.accesses_elements and "global" in instruction.modifiers


def _sum(instruction: Instruction) -> tuple[Register | Immediate, ConstantBank | None]:
    """The register and the constant that a 64-bit addition adds, or 0 and the constant of a move; no constant for
    anything else."""
    zero = Immediate(0)
    if instruction.opcode == "mov" and len(instruction.operands) == 2:
        moved = instruction.operands[1]
        is_wide = isinstance(moved, ConstantBank) and moved.type.bits == B64.bits
        return zero, moved if is_wide and isinstance(moved, ConstantBank) else None
    if instruction.opcode != "add" or instruction.modifiers not in SUMS or instruction.guard:
        return zero, None
    first, second = instruction.operands[1:3]
    if isinstance(first, ConstantBank):
        first, second = second, first
    if isinstance(first, Register) and isinstance(second, ConstantBank) and second.type.bits == B64.bits:
        return first, second
    return zero, None
