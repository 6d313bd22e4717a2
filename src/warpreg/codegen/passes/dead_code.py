"""Dead code elimination: remove instructions without effect, and unused results of atomic operations (``red``)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from warpreg.codegen.machine.textures import without_dead_results
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import is_allowed

REDUCTION = "red"
"""An atomic operation without a result."""


@dataclass(frozen=True)
class EliminateDeadCode:
    """Keep instructions with an effect and their inputs; remove all others, including loads that are not volatile."""

    def run(self, kernel: Kernel) -> Kernel:
        instructions = list(kernel.instructions())
        makers: dict[str, list[int]] = defaultdict(list)
        for pc, instruction in enumerate(instructions):
            for register in instruction.defined:
                makers[register.name].append(pc)
        needed: set[str] = set()
        kept = [not i.traits.is_removable for i in instructions]
        work = [pc for pc, keep in enumerate(kept) if keep]
        while work:
            for register in instructions[work.pop()].used:
                if register.name not in needed:
                    needed.add(register.name)
                    fresh = [pc for pc in makers[register.name] if not kept[pc]]
                    for pc in fresh:
                        kept[pc] = True
                    work.extend(fresh)
        survivors = iter(zip(instructions, kept, strict=True))
        bodies = {}
        for block in kernel.blocks:
            pairs = [next(survivors) for _ in block.instructions]
            bodies[block.index] = [_without_result(i, needed) for i, keep in pairs if keep]
        return with_blocks(kernel, bodies)


def _without_result(instruction: Instruction, needed: set[str]) -> Instruction:
    """A fetch of the channels that something reads; an atomic operation as a reduction, where PTX has it in that memory
    order."""
    if instruction.traits.fetches_channels:
        return without_dead_results(instruction, needed)
    if not instruction.traits.returns_old or not is_allowed(REDUCTION, instruction.modifiers):
        return instruction
    if any(register.name in needed for register in instruction.defined):
        return instruction
    return replace(instruction, opcode=REDUCTION, operands=instruction.operands[1:])
