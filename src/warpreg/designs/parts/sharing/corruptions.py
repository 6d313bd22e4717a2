"""Seeded errors in code with acquires and releases, which its execution has to detect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.sharing.check import checked_division
from warpreg.designs.parts.sharing.division import Division
from warpreg.designs.parts.sharing.instructions import ACQUIRE, NOTHING, RELEASE, acquire, action_of, release
from warpreg.designs.parts.sharing.staging import INSERTED
from warpreg.ir.edges import visits_of
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

EARLY_RELEASE, LATE_ACQUIRE, MISSING_MOVE, WRONG_SECTION = "early release", "late acquire", "missing move", "section"
Code = list[tuple[Instruction, int]]
"""Instructions with their pcs in the kernel before."""


@dataclass(frozen=True)
class SectionCorruption:
    """One error: a release an instruction early, an acquire an instruction late, a move left out, or another section
    (a release and an acquire) before the instruction at ``position`` of ``block``."""

    kind: str
    before: Kernel
    division: Division
    block: int
    position: int

    def checked(self) -> Checked:
        """The compiled code with the error."""
        wrong = {self.block: self._changed(_code(self.division, self.block))}
        kernel = self.division.kernel
        code = {block.index: wrong.get(block.index, _code(self.division, block.index)) for block in kernel.blocks}
        bodies = {block: [instruction for instruction, _ in rows] for block, rows in code.items()}
        original = tuple(pc for rows in code.values() for _, pc in rows)
        return checked_division(
            self.before, replace(self.division, kernel=with_blocks(kernel, bodies), original=original)
        )

    def _changed(self, code: Code) -> Code:
        at, division = self.position, self.division
        if self.kind == MISSING_MOVE:
            return code[:at] + code[at + 1 :]
        if self.kind == WRONG_SECTION:
            added = release(division.base), acquire(division.registers)
            return code[:at] + [(instruction, INSERTED) for instruction in added] + code[at:]
        return [*code[: at - 1], code[at], code[at - 1], *code[at + 1 :]]


def corruptions_of(before: Kernel, division: Division, visits: NDArray[np.int64]) -> list[SectionCorruption]:
    """Every error in blocks that were executed, ``visits`` of them by block of the kernel before."""
    executed = visits_of(division.kernel, visits.tolist())
    return [
        SectionCorruption(kind, before, division, block.index, position)
        for block in division.kernel.blocks
        if executed[block.index]
        for kind, position in _places(_code(division, block.index))
    ]


def _places(code: Code) -> Iterator[tuple[str, int]]:
    held = False
    for position, (instruction, original) in enumerate(code):
        action = action_of(instruction)
        previous = action_of(code[position - 1][0]) if position else ACQUIRE
        if action == RELEASE and previous == NOTHING:
            yield EARLY_RELEASE, position
        elif action == NOTHING and position and previous == ACQUIRE:
            yield LATE_ACQUIRE, position
        elif action == NOTHING and original == INSERTED:
            yield MISSING_MOVE, position
        elif action == NOTHING and held:
            yield WRONG_SECTION, position
        held = action == ACQUIRE or (held and action != RELEASE)


def _code(division: Division, block: int) -> Code:
    first = division.kernel.first_pcs()[block]
    instructions = division.kernel.blocks[block].instructions
    return list(zip(instructions, division.original[first : first + len(instructions)], strict=True))
