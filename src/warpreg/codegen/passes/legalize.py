"""Moves constants into registers where the machine requires a register.

One move serves all such reads of a block; for blocks in loops it is placed before the outermost loop.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from warpreg.analysis.dominators import dominators
from warpreg.analysis.loops import loops
from warpreg.codegen.machine.legality import (
    base_needs_register,
    brace_lists_are_registers,
    element_types,
    must_be_registers,
    source_types,
)
from warpreg.codegen.machine.textures import bits_of
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import signature
from warpreg.ir.operands import Address, AddressTuple, ConstantBank, Immediate, Operand, Register, Vector
from warpreg.ir.types import TYPES, Type


@dataclass(frozen=True)
class LegalizeOperands:
    """Ensure that instructions read at most one constant, and that stored values and global addresses are registers."""

    def run(self, kernel: Kernel) -> Kernel:
        legal = _Legalization(kernel)
        bodies = {
            block.index: [legal.instruction(i, block.index) for i in block.instructions] for block in kernel.blocks
        }
        if not legal.registers:
            return kernel
        for block, moves in legal.late.items():
            body = bodies[block]
            end = len(body) - (kernel.blocks[block].terminator is not None)
            body[end:end] = moves
        for block, moves in legal.early.items():
            bodies[block][:0] = moves
        return with_blocks(kernel, bodies)


@dataclass
class _Legalization:
    kernel: Kernel
    registers: dict[tuple[int, Operand, int], Register] = field(default_factory=dict)
    early: dict[int, list[Instruction]] = field(default_factory=lambda: defaultdict(list))
    late: dict[int, list[Instruction]] = field(default_factory=lambda: defaultdict(list))

    def instruction(self, instruction: Instruction, block: int) -> Instruction:
        if instruction.traits.is_texture:
            return self._texture(instruction, block)
        sources = list(instruction.sources)
        wrong = list(must_be_registers(instruction))
        if wrong:
            types = source_types(instruction)
            for position in wrong if types else ():
                if types and not types[position].is_predicate:
                    sources[position] = self._register(sources[position], types[position], block, instruction)
        for position, operand in enumerate(sources):
            if isinstance(operand, Address) and base_needs_register(instruction, operand):
                sources[position] = Address(self._base(operand, block, instruction), operand.offset)
            elif isinstance(operand, Vector) and brace_lists_are_registers(instruction) and _has_constant(operand):
                sources[position] = self._vector(operand, element_types(instruction, position), block, instruction)
        if tuple(sources) == instruction.sources:
            return instruction
        return replace(instruction, operands=(*instruction.results, *sources))

    def _texture(self, instruction: Instruction, block: int) -> Instruction:
        """Coordinates and data come from registers; handles may be words of a constant bank."""
        types = iter(signature(instruction).sources)

        def legal(operand: Operand, is_handle: bool = False) -> Operand:
            if isinstance(operand, AddressTuple):
                *handles, points = operand.elements
                return AddressTuple((*(legal(h, True) for h in handles), legal(points)))
            if isinstance(operand, Vector):
                return Vector(tuple(legal(e) for e in operand.elements))
            kind = next(types)
            constant = isinstance(operand, (Immediate, ConstantBank)) and not is_handle
            return self._register(bits_of(operand, kind), kind, block, instruction) if constant else operand

        if not instruction.traits.accesses_memory:
            return instruction
        sources = tuple(legal(o) for o in instruction.sources)
        return replace(instruction, operands=(*instruction.results, *sources))

    def _base(self, address: Address, block: int, instruction: Instruction) -> Register:
        assert isinstance(address.base, ConstantBank)
        return self._register(address.base, address.base.type, block, instruction)

    def _vector(self, vector: Vector, types: tuple[Type, ...], block: int, instruction: Instruction) -> Vector:
        """All elements of a vector store or matrix instruction as registers, zeros included."""
        elements = (
            self._register(e, kind, block, instruction) if isinstance(e, (Immediate, ConstantBank)) else e
            for e, kind in zip(vector.elements, types, strict=True)
        )
        return Vector(tuple(elements))

    def _register(self, constant: Operand, kind: Type, block: int, template: Instruction) -> Register:
        place, is_late = constant_place(self.kernel, block)
        bits = TYPES[f"b{max(16, kind.bits)}"]
        key = (place, constant, bits.bits)
        if key not in self.registers:
            register = self.registers[key] = Register(f"%k${len(self.registers)}", bits)
            move = replace(template, opcode="mov", modifiers=(bits.name,), operands=(register, constant), guard=None)
            (self.late if is_late else self.early)[place].append(move)
        return self.registers[key]


def constant_place(kernel: Kernel, block: int) -> tuple[int, bool]:
    """The block where a constant for ``block`` is loaded, and whether the load is at its end: before the outermost
    loop."""
    forest, tree = loops(kernel), dominators(kernel)
    index = forest.innermost[block]
    if index < 0:
        return block, False
    while forest.loops[index].parent >= 0:
        index = forest.loops[index].parent
    before = tree.immediate[forest.loops[index].header]
    return (before, True) if before >= 0 else (block, False)


def _has_constant(vector: Vector) -> bool:
    return any(isinstance(e, (Immediate, ConstantBank)) for e in vector.elements)
