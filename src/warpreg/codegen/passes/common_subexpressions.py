"""Common-subexpression elimination by value numbering.

Values are numbered over the dominator tree (Briggs, Cooper and Simpson, "Value Numbering", Software: Practice and
Experience 1997): in static single-assignment form two instructions with the same opcode and sources have the same
result, and one that dominates the other can replace it.  Sharing extends live ranges, so a cheap computation of
constants is shared within a block only, and no value is shared with uses outside its loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace

from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.analysis.dominators import dominators
from warpreg.analysis.loops import loops
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.machine.side_effects import is_pure
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Guard, Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register


@dataclass(frozen=True)
class ShareValues:
    """Remove repeated computations; their readers read the first result."""

    def run(self, kernel: Kernel) -> Kernel:
        sharing = _Sharing(kernel, single_definitions(kernel))
        bodies = {index: sharing.block(index) for index in _preorder(kernel)}
        return with_blocks(kernel, bodies) if sharing.same else kernel


def _preorder(kernel: Kernel) -> Iterator[int]:
    """Blocks of the dominator tree, each after those that dominate it."""
    tree = dominators(kernel)
    reached = [b for b in range(len(kernel.blocks)) if b == 0 or tree.immediate[b] >= 0]
    return iter(sorted(reached, key=lambda b: tree.entered[b]))


@dataclass
class _Sharing:
    kernel: Kernel
    single: SingleDefinitions
    same: dict[str, Register] = field(default_factory=dict)
    known: dict[Hashable, list[tuple[int, Register]]] = field(default_factory=dict)

    def block(self, index: int) -> list[Instruction]:
        """The block's instructions without those whose value is already available."""
        kept = []
        for instruction in self.kernel.blocks[index].instructions:
            instruction = self._renamed(instruction)
            target = instruction.operands[0] if instruction.operands else None
            if not isinstance(target, Register) or not self._is_shareable(instruction):
                kept.append(instruction)
                continue
            key = _key(instruction)
            earlier = self._earlier(key, index, _is_cheap(instruction))
            if earlier is not None and earlier.type == target.type:
                self.same[target.name] = earlier
            else:
                self.known.setdefault(key, []).append((index, target))
                kept.append(instruction)
        return kept

    def _renamed(self, instruction: Instruction) -> Instruction:
        if not self.same:
            return instruction
        sources = tuple(map_operand(o, self._first) for o in instruction.sources)
        guard = instruction.guard
        if guard and guard.register.name in self.same:
            guard = Guard(self.same[guard.register.name], guard.negated)
        return replace(instruction, operands=(*instruction.results, *sources), guard=guard)

    def _first(self, operand: Operand) -> Operand:
        return self.same.get(operand.name, operand) if isinstance(operand, Register) else operand

    def _is_shareable(self, instruction: Instruction) -> bool:
        """Whether it is pure and reads only singly assigned registers, so that its position does not matter."""
        if instruction.guard or not is_pure(instruction):
            return False
        named = (r.name for o in instruction.operands for r in registers_of(o))
        return all(name in self.single for name in named)

    def _earlier(self, key: Hashable, block: int, cheap: bool) -> Register | None:
        """The register of the same value in a block that dominates this one, in the same loop.

        Blocks come in the preorder of the dominator tree: one that does not dominate this one dominates no later one.
        """
        tree, forest = dominators(self.kernel), loops(self.kernel)
        found = [(place, register) for place, register in self.known.get(key, ()) if tree.dominates(place, block)]
        self.known[key] = found
        for place, register in found:
            if place == block or (not cheap and forest.innermost[place] == forest.innermost[block]):
                return register
        return None


def _key(instruction: Instruction) -> Hashable:
    sources = instruction.sources
    if instruction.traits.commutes and len(sources) >= 2:
        sources = (*sorted(sources[:2], key=str), *sources[2:])
    return instruction.opcode, instruction.modifiers, sources


def _is_cheap(instruction: Instruction) -> bool:
    """Whether it computes from constants only: recomputing costs less than a longer live range."""
    return not any(True for o in instruction.sources for _ in registers_of(o))
