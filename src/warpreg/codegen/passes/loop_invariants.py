"""Loop-invariant code motion: moves invariant computations before the loop.

An instruction is invariant if all its operands are defined outside the loop (Aho, Lam, Sethi and Ullman, "Compilers",
section 9.5.2).  It may move if it is pure and its result is singly assigned: then it may run even if the loop body
would not.  Its result is live in the whole loop, in addition to its sources unless nothing else reads them.  So it
moves only while the live words of the loop do not exceed the kernel's maximum; scheduling can still change the demand
by a register.  Constants and comparisons are not moved, since they are cheap and predicates are few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.analysis.dominators import dominators
from warpreg.analysis.loops import LoopForest, loops
from warpreg.analysis.pressure import pressure
from warpreg.codegen.machine.side_effects import is_pure
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Register


@dataclass(frozen=True)
class HoistInvariants:
    """Move invariant instructions to the end of the block that precedes the loop on every path.

    ``words``: upper bound of a loop's live 32-bit words, if lower than the kernel's maximum.
    """

    words: int | None = None

    def run(self, kernel: Kernel) -> Kernel:
        if not loops(kernel).loops:
            return kernel
        motion = _Motion(kernel, self.words)
        order = control_flow(kernel).reverse_postorder
        bodies = {index: motion.remaining(kernel.blocks[index]) for index in order}
        for index, moved in motion.moved.items():
            end = len(bodies[index]) - (kernel.blocks[index].terminator is not None)
            bodies[index][end:end] = moved
        return with_blocks(kernel, bodies) if motion.moved else kernel


class _Motion:
    """``places`` are the blocks in which each register is written, ``late`` the registers that a block's end writes;
    ``moved`` are instructions for the end of a block.  Analyses of all registers are computed on first use.
    """

    def __init__(self, kernel: Kernel, words: int | None) -> None:
        self.kernel, self.most = kernel, words
        self.flow, self.tree, self.forest = control_flow(kernel), dominators(kernel), loops(kernel)
        self.inner = _inner(self.forest)
        self.places: dict[str, set[int]] = defaultdict(set)
        for block in kernel.blocks:
            for register in (r for i in block.instructions for r in i.defined):
                self.places[register.name].add(block.index)
        ends = (block.terminator for block in kernel.blocks)
        self.late = frozenset(r.name for end in ends if end for r in end.defined)
        self.moved: dict[int, list[Instruction]] = {}

    @cached_property
    def single(self) -> SingleDefinitions:
        return single_definitions(self.kernel)

    @cached_property
    def reads(self) -> Counter[str]:
        """Reads of each register by instructions that have not moved."""
        return Counter(self.single.reads)

    @cached_property
    def words(self) -> int:
        """The bound on the live words of a loop."""
        highest = max(pressure(self.kernel).highest)
        return highest if self.most is None else min(highest, self.most)

    @cached_property
    def live(self) -> list[int]:
        """The most words live in each loop."""
        highest = pressure(self.kernel).highest
        return [max(highest[b] for b in loop.blocks) for loop in self.forest.loops]

    def remaining(self, block: Block) -> list[Instruction]:
        """The block's instructions without those that move out of its loops."""
        return [i for i in block.instructions if not self._moves(i, block.index)]

    def _moves(self, instruction: Instruction, block: int) -> bool:
        loop, place = self.forest.innermost[block], block
        if loop < 0 or not _is_worthwhile(instruction) or self._before(instruction, loop) < 0:
            return False
        if any(r.name not in self.single for r in instruction.defined):
            return False
        cost = self._cost(instruction)
        while loop >= 0 and (before := self._before(instruction, loop)) >= 0:
            if cost > 0 and max(self.live[i] for i in self.inner[loop]) + cost > self.words:
                break
            for index in self.inner[loop]:
                self.live[index] += cost
            loop, place = self.forest.loops[loop].parent, before
        if place == block:
            return False
        self.moved.setdefault(place, []).append(instruction)
        self.reads.subtract(r.name for r in instruction.used)
        self.places |= {r.name: {place} for r in instruction.defined}
        return True

    def _before(self, instruction: Instruction, loop: int) -> int:
        """The block before a loop at whose end all operands of the instruction are available; -1 without one."""
        found = self.forest.loops[loop]
        before = self.tree.immediate[found.header]
        if before < 0 or self.forest.innermost[before] != found.parent:
            return -1
        return before if all(self._is_known(r.name, loop, before) for r in instruction.used) else -1

    def _is_known(self, name: str, loop: int, before: int) -> bool:
        """Whether a register has its value of the loop already at the end of ``before``."""
        places = self.places[name]
        if name in self.late and before in places:
            return False
        if len(places) == 1 and name in self.single and self.tree.dominates(min(places), before):
            return True
        found = self.forest.loops[loop]
        entries = set(self.flow.predecessors[found.header]) - found.blocks
        return bool(places) and not places & found.blocks and entries == {before}

    def _cost(self, instruction: Instruction) -> int:
        """Change of the words live through a loop if the instruction moves before it."""
        freed = {r for r in instruction.used if r.name in self.single and self.reads[r.name] == 1}
        return sum(map(_words, instruction.defined)) - sum(map(_words, freed))


def _inner(forest: LoopForest) -> tuple[list[int], ...]:
    """By loop: itself and the loops in it."""
    inner: tuple[list[int], ...] = tuple([] for _ in forest.loops)
    for index in range(len(forest.loops)):
        around = index
        while around >= 0:
            inner[around].append(index)
            around = forest.loops[around].parent
    return inner


def _is_worthwhile(instruction: Instruction) -> bool:
    """Whether it is pure and unguarded, and neither a constant nor a comparison."""
    if instruction.guard or not instruction.used or not is_pure(instruction):
        return False
    return not any(r.is_predicate for r in instruction.defined)


def _words(register: Register) -> int:
    return 0 if register.is_predicate else register.type.words
