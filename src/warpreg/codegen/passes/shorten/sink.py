"""Sinking: moves a computation down to the blocks that read its result, so that its result is live for a shorter time.

The target is the nearest block that dominates all reads (the reverse of code motion out of loops: Aho, Lam, Sethi and
Ullman, "Compilers", section 9.5).  An instruction moves if it is pure and unguarded and all registers that it names are
singly assigned: no memory access, barrier or other lane changes its result.  It never moves into a loop that its old
block is not in, so no thread executes it more often.

It moves only if too many words are live on the way.  So does `ptxas`: under a limit of registers it moves most such
values, otherwise it leaves most where the front end computes them (`warpreg_workbench.compiler.instruction_placement`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from warpreg.analysis.pressure import pressure
from warpreg.codegen.machine.uniform import uniform_values
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.passes.shorten.ranges import Ranges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register

DEEPEST = 6
"""How far operands of operands are followed for what an instruction keeps live."""


@dataclass(frozen=True)
class SinkValues:
    """Move instructions down to their reads where they keep at most as many words live as they free.

    ``words``: an instruction moves only if more words than these are live on the way; ``uniform``: the target has
    uniform registers; values that they can hold stay, since they cost no register.
    """

    words: int = 0
    uniform: bool = False

    def run(self, kernel: Kernel) -> Kernel:
        if len(kernel.blocks) == 1:
            return kernel
        motion = _Motion(kernel, self.words, uniform_values(kernel) if self.uniform else frozenset())
        bodies = {index: motion.remaining(index) for index in reversed(motion.ranges.flow.reverse_postorder)}
        return with_blocks(kernel, motion.placed(bodies)) if motion.moved else kernel


class _Motion:
    """``moved`` are the instructions that have moved to a block, in order; ``crowded`` the blocks with too many live
    words."""

    def __init__(self, kernel: Kernel, words: int, fixed: frozenset[str]) -> None:
        self.kernel, self.ranges = kernel, Ranges(kernel, fixed)
        self.crowded = {b for b, most in enumerate(pressure(kernel).highest) if most > words}
        self.moved: dict[int, list[Instruction]] = defaultdict(list)

    def remaining(self, block: int) -> list[Instruction]:
        """The block's instructions without those that move down; the last first, so that operands follow."""
        kept = [i for i in reversed(self.kernel.blocks[block].instructions) if not self._moves(i, block)]
        return kept[::-1]

    def placed(self, bodies: dict[int, list[Instruction]]) -> dict[int, list[Instruction]]:
        """The bodies with what moved: before all reads of the block, or at its end if it has none."""
        for index, moved in self.moved.items():
            body = bodies[index]
            early = [i for i in moved if any(index in self.ranges.reads[r.name] for r in i.defined)]
            late = [i for i in moved if i not in early]
            end = len(body) - (self.kernel.blocks[index].terminator is not None)
            bodies[index] = [*early, *body[:end], *late, *body[end:]]
        return bodies

    def _moves(self, instruction: Instruction, block: int) -> bool:
        target = self._target(instruction, block)
        if target == block or not self._is_crowded(instruction, block, target):
            return False
        if _size(self._needed(instruction, target)) > sum(r.type.words for r in instruction.defined):
            return False
        self.ranges.move(instruction, target)
        self.moved[target].insert(0, instruction)
        return True

    def _target(self, instruction: Instruction, block: int) -> int:
        """The block to move to; its own if it must stay."""
        reads = {b for r in instruction.defined for b in self.ranges.reads[r.name]}
        if not reads or block in reads or not self.ranges.is_movable(instruction):
            return block
        tree = self.ranges.tree
        target = min(reads)
        while not all(tree.dominates(target, other) for other in reads):
            target = tree.immediate[target]
        while target != block and self.ranges.is_repeated(target, block):
            target = tree.immediate[target]
        return target

    def _is_crowded(self, instruction: Instruction, block: int, target: int) -> bool:
        """Whether too many words are live on the way to the target."""
        alive = {b for r in instruction.defined for b in self.ranges.alive(r.name)}
        return not self.crowded.isdisjoint({block, *(b for b in alive if not self.ranges.tree.dominates(target, b))})

    def _needed(self, instruction: Instruction, target: int, depth: int = 0) -> frozenset[Register]:
        """Registers that the instruction would keep live up to ``target``.

        If nothing else reads an operand before ``target``, its definition may follow; it then counts as its own
        operands if they are not wider.
        """
        needed: frozenset[Register] = frozenset()
        for register in frozenset(instruction.used):
            if target in self.ranges.alive(register.name):
                continue
            own = frozenset((register,))
            if depth < DEEPEST and self._may_follow(register, instruction, target):
                deeper = self._needed(self.ranges.makers[register.name], target, depth + 1)
                own = deeper if _size(deeper) <= _size(own) else own
            needed |= own
        return needed

    def _may_follow(self, register: Register, reader: Instruction, target: int) -> bool:
        """Whether the definition of an operand may move, and all its other reads are where ``target`` dominates."""
        if not self.ranges.is_movable(self.ranges.makers[register.name]):
            return False
        block, own = self.ranges.home[reader.defined[0].name], sum(r.name == register.name for r in reader.used)
        reads = self.ranges.reads[register.name]
        return all(self.ranges.tree.dominates(target, b) or (b == block and reads[b] == own) for b in reads)


def _size(registers: frozenset[Register]) -> float:
    """Words of some registers; there are too few predicates to keep one live longer."""
    return sum(math.inf if r.is_predicate else r.type.words for r in registers)
