"""Dead code elimination: remove instructions without effect, and unused results of atomic operations (``red``)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from warpreg.codegen.machine.textures import without_dead_results
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import traits, writes_carry

FETCHES = frozenset({"tex", "tld4"})
LOADS = frozenset({"ld", "ldu"})
ORDERED = frozenset({"volatile", "relaxed", "acquire", "mmio"})
ACQUIRING = frozenset({"acquire", "acq_rel"})
"""Memory orders that only an atomic operation with a result supports."""
REDUCIBLE = frozenset({"add", "min", "max", "and", "or", "xor", "inc", "dec"})


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
        kept = [not _is_removable(i) for i in instructions]
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


def _is_removable(instruction: Instruction) -> bool:
    if instruction.opcode in LOADS:
        return not ORDERED.intersection(instruction.modifiers)
    return traits(instruction).is_removable and not writes_carry(instruction)


def _without_result(instruction: Instruction, needed: set[str]) -> Instruction:
    if instruction.opcode in FETCHES:
        return without_dead_results(instruction, needed)
    if instruction.opcode != "atom" or not REDUCIBLE.intersection(instruction.modifiers):
        return instruction
    if ACQUIRING.intersection(instruction.modifiers):
        return instruction
    if any(register.name in needed for register in instruction.defined):
        return instruction
    return replace(instruction, opcode="red", operands=instruction.operands[1:])
