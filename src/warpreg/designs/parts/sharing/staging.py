"""Acquires, releases and moves: the first step of the compiler of RegMutex (thesis §4.3.1).

A move stands in front of a release for each live register of the extended set; where the base set is too fragmented to
take these, for all live registers, of which most stay where they are and are not moved in the end.  At first it moves a
register to itself.  That ends the old value and begins a new one, which `compaction` gives a register of the base set,
with all its reads up to the end of its live range; where paths meet, values that reach one read are one value, so all
paths agree.  Lanes that wait on the other side of a branch do not execute the move; a value that they need is not
moved, but lies in the base set from its first write on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.parts.sharing.groups import Groups, groups_of
from warpreg.designs.parts.sharing.instructions import acquire, release
from warpreg.designs.parts.sharing.states import END, START, States
from warpreg.designs.parts.window.live_values import live_values
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import B32

INSERTED = -1


@dataclass(frozen=True)
class StagedKernel:
    """A kernel with its transitions, and by pc the pc in the ``original`` kernel, INSERTED for added instructions."""

    kernel: Kernel
    original: tuple[int, ...]
    states: States


def staged(analysis: Analysis, states: States, base: int, registers: int, moves_from: int) -> StagedKernel:
    """The kernel with acquires, releases, and moves of registers to themselves; ``registers``: those with a section.

    Live registers from ``moves_from`` on are moved: those of the extended set, or all, which may then be rearranged.
    """
    kernel = analysis.kernel
    stage = _Stage(analysis, states, base, registers, moves_from, groups_of(kernel))
    bodies: dict[int, list[Instruction]] = {}
    original: list[int] = []
    for block in kernel.blocks:
        code = list(stage.block(block.index))
        bodies[block.index] = [instruction for instruction, _ in code]
        original += [pc for _, pc in code]
    return StagedKernel(with_blocks(kernel, bodies), tuple(original), states)


@dataclass(frozen=True)
class _Stage:
    analysis: Analysis
    states: States
    base: int
    registers: int
    moves_from: int
    groups: Groups

    def block(self, block: int) -> Iterator[tuple[Instruction, int]]:
        """The instructions of a block, each with its pc in the original kernel."""
        kernel, live = self.analysis.kernel, live_values(self.analysis.kernel)
        first, end = kernel.first_pcs()[block : block + 2]
        held = self.states.boundary[block, START]
        for pc, instruction in zip(range(first, end), kernel.blocks[block].instructions, strict=True):
            if self.states.at[pc] != held:
                yield from self._transition(block, held, live.before[pc])
                held = not held
            yield instruction, pc
        if self.states.boundary[block, END] != held:
            yield from self._transition(block, held, live.after[end - 1])

    def _transition(self, block: int, held: bool, live: int) -> Iterator[tuple[Instruction, int]]:
        """An acquire, or moves of ``live`` values and a release."""
        if not held:
            yield acquire(self.registers), INSERTED
            return
        waiting = live_values(self.analysis.kernel).waiting[block]
        for register in self.groups.to_move(live, waiting, self.moves_from):
            itself = Register(f"R{register}", B32, register)
            yield Instruction("mov", ("b32",), (itself, itself)), INSERTED
        yield release(self.base), INSERTED
