"""Why our registers differ from those of ``ptxas``: what can be seen in the two codes, counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.experiments.vendor_compiler import Listed
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Vector

THEIR_MEMORY = re.compile(r"(LD|ST|LDG|STG|LDS|STS|LDL|STL|ATOM\w*|RED)(\.|$)")
THEIR_BRANCHES = frozenset({"BRA", "BRX"})
OUR_MEMORY = frozenset({"ld", "st", "atom", "red"})
UNIFORM_BASE = re.compile(r"\[R\d+[^\]]*\+\s*UR\d+")
UNROLLED = 1.5
"""Memory instructions theirs over ours from which loops count as unrolled."""
OUTLIER = 1.2


@dataclass(frozen=True, slots=True)
class Evidence:
    """Static counts, ours and theirs: memory instructions, those of 128 bits, and branches; and of theirs those
    accesses whose address adds a uniform register, and the instructions of linked subroutines."""

    memory: tuple[int, int]
    wide: tuple[int, int]
    branches: tuple[int, int]
    uniform_bases: int
    subroutines: int

    @staticmethod
    def of(kernel: Kernel, code: Sequence[Listed], subroutines: int) -> Evidence:
        """What the two codes of one kernel show; ``code`` without its subroutines."""
        ours = [i for i in kernel.instructions() if i.opcode in OUR_MEMORY and "param" not in i.modifiers]
        theirs = [line for line in code if THEIR_MEMORY.match(line.opcode)]
        return Evidence(
            memory=(len(ours), len(theirs)),
            wide=(sum(map(_is_wide, ours)), sum("128" in line.opcode.split(".") for line in theirs)),
            branches=(
                sum(i.opcode in ("bra", "brx") for i in kernel.instructions()),
                sum(line.opcode.split(".")[0] in THEIR_BRANCHES for line in code),
            ),
            uniform_bases=sum(bool(UNIFORM_BASE.search(line.operands)) for line in theirs),
            subroutines=subroutines,
        )

    def mechanism(self, registers_ratio: float) -> str:
        """What explains a ratio of registers, ours over theirs; the first that the counts show."""
        if 1 / OUTLIER <= registers_ratio <= OUTLIER:
            return ""
        if registers_ratio > 1:
            if self.uniform_bases:
                return f"{self.uniform_bases} of its addresses add a uniform base, so one index serves several arrays"
            return "our schedule keeps more values in flight"
        if self.memory[1] >= UNROLLED * self.memory[0]:
            return f"it unrolls loops ({self.memory[1]} memory instructions, ours {self.memory[0]})"
        if self.subroutines:
            return f"it calls a subroutine ({self.subroutines} instructions), whose registers count"
        if self.wide[1] > self.wide[0]:
            return f"it joins accesses to 128 bits ({self.wide[1]}, ours {self.wide[0]}), in aligned groups"
        if self.branches[1] < self.branches[0]:
            return f"it predicates ({self.branches[1]} branches, ours {self.branches[0]}) and batches loads across"
        return "its schedule keeps more loads and addresses in flight"


def _is_wide(instruction: Instruction) -> bool:
    vectors = [o for o in instruction.operands if isinstance(o, Vector)]
    return any(instruction.types[-1].bits * len(v.elements) == 128 for v in vectors)
