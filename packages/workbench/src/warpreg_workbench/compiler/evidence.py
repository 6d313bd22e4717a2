"""Causes of differences in registers and instructions between our code and that of ``ptxas``, from static counts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, Register, Vector
from warpreg_workbench.compiler.vendor_compiler import MachineCode

THEIR_MEMORY = re.compile(r"(LD|ST|LDG|STG|LDS|STS|LDL|STL|ATOM\w*|RED)(\.|$)")
THEIR_BRANCHES = frozenset({"BRA", "BRX"})
UNIFORM_BASE = re.compile(r"\[R\d+[^\]]*\+\s*UR\d+")
APPROXIMATE = frozenset({"div", "rcp", "sqrt", "rsqrt", "ex2", "lg2"})
UPPER_HALF = re.compile(r"U?SHF\..*HI|.*\.E?X(\.|$)")
"""Opcodes that read a carry, or shift into or out of an upper half."""
MEETING = frozenset({"BMOV", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD", "VOTE", "VOTEU"})
"""Opcodes of divergence, reconvergence and active-lane queries."""
THEIR_MOVES = re.compile(r"(MOV|UMOV|ULDC|IMAD\.MOV|IMAD\.U32)(\.|$)")
SCALING = 3
"""Minimum additional instructions of an approximate function in their code."""
CALLING = 5
"""Approximate instructions around a call of a subroutine."""
UNROLLED = 1.2
"""Minimum ratio of their instructions with and without unrolling for loops to count as unrolled."""
REPEATED = 1.5
"""Minimum ratio of memory instructions, theirs over ours, for loop bodies to count as repeated despite no unrolling."""
OUTLIER = 1.2
"""Ratio of registers or instructions, in either direction, from which a kernel counts as an outlier."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Static counts of a kernel; pairs are ours and theirs."""

    memory: tuple[int, int]
    """Memory instructions."""
    wide: tuple[int, int]
    """Those of 128 bits."""
    branches: tuple[int, int]
    """Branches."""
    unrolled: tuple[int, int]
    """Theirs, with and without unrolling."""
    moves: tuple[int, int] = (0, 0)
    """Moves, including constants and uniform values."""
    uniform_bases: tuple[int, int] = (0, 0)
    """Accesses whose address adds a uniform register to another one."""
    subroutines: int = 0
    """Theirs: instructions of linked subroutines."""
    subroutine_calls: int = 0
    """Theirs: calls of linked subroutines."""
    upper_halves: int = 0
    """Theirs: instructions for upper halves of 64-bit integers."""
    meeting: int = 0
    """Theirs: reconvergence instructions."""
    calls: int = 0
    """Ours: calls of device functions in PTX, which we inline."""
    approximations: int = 0
    """Ours: approximate functions that preserve subnormals."""

    @staticmethod
    def of(kernel: Kernel, machine: MachineCode, rolled: MachineCode) -> Evidence:
        """The counts of one kernel."""
        ours = [i for i in kernel.instructions() if i.traits.accesses_elements and "param" not in i.modifiers]
        theirs = [line for line in machine.code if THEIR_MEMORY.match(line.opcode)]
        return Evidence(
            memory=(len(ours), len(theirs)),
            wide=(sum(map(_is_wide, ours)), sum("128" in line.opcode.split(".") for line in theirs)),
            branches=(
                sum(i.traits.is_branch for i in kernel.instructions()),
                sum(line.opcode.split(".")[0] in THEIR_BRANCHES for line in machine.code),
            ),
            unrolled=(machine.instructions, rolled.instructions),
            moves=(
                sum(i.opcode == "mov" for i in kernel.instructions()),
                sum(bool(THEIR_MOVES.match(line.opcode)) for line in machine.code),
            ),
            uniform_bases=(
                sum(map(_adds_uniform, ours)),
                sum(bool(UNIFORM_BASE.search(line.operands)) for line in theirs),
            ),
            subroutines=machine.subroutine_instructions,
            subroutine_calls=sum(line.opcode.startswith("CALL") for line in machine.code),
            upper_halves=sum(bool(UPPER_HALF.match(line.opcode)) for line in machine.code),
            meeting=sum(line.opcode.split(".")[0] in MEETING for line in machine.code),
            calls=_calls(kernel),
            approximations=sum(map(_is_approximate, kernel.instructions())),
        )

    def of_registers(self, ratio: float) -> str:
        """The explanation of a ratio of registers, ours over theirs: the first one that the counts support."""
        if 1 / OUTLIER <= ratio <= OUTLIER:
            return ""
        if ratio > 1:
            ours, theirs = self.uniform_bases
            if theirs > ours:
                added = f"{theirs} of its addresses add a uniform register (ours {ours})"
                return f"{added}, so one index serves several arrays"
            return "our schedule keeps more values in flight"
        if self._unrolls:
            return self._unrolling
        if self.subroutines:
            return f"it calls a subroutine ({self.subroutines} instructions), whose registers count"
        if self.wide[1] > self.wide[0]:
            return f"it joins accesses to 128 bits ({self.wide[1]}, ours {self.wide[0]}), in aligned groups"
        if self.branches[1] < self.branches[0]:
            return f"it predicates ({self.branches[1]} branches, ours {self.branches[0]}) and batches loads across"
        return "its schedule keeps more loads and addresses in flight"

    def of_instructions(self, ratio: float) -> str:
        """The explanation of a ratio of instructions, ours over theirs.  If theirs are more: the largest contribution,
        and those at least half as large; otherwise the first explanation that the counts support."""
        if 1 / OUTLIER <= ratio <= OUTLIER:
            return ""
        if ratio < 1:
            if self._unrolls:
                return self._unrolling
            if self.memory[1] >= REPEATED * self.memory[0]:
                return f"it repeats bodies of loops ({self.memory[1]} memory instructions, ours {self.memory[0]})"
            return self._additions
        if self.calls and self.subroutines:
            return f"{self.calls} calls of device functions are inlined here, and subroutines there"
        if self.memory[1] < self.memory[0]:
            return f"it joins memory accesses ({self.memory[1]}, ours {self.memory[0]})"
        if self.branches[1] < self.branches[0]:
            return f"it predicates ({self.branches[1]} branches, ours {self.branches[0]})"
        return "its instructions do more"

    @property
    def _unrolls(self) -> bool:
        return self.unrolled[0] >= UNROLLED * self.unrolled[1]

    @property
    def _unrolling(self) -> str:
        return f"it unrolls loops ({self.unrolled[0]} instructions, {self.unrolled[1]} where it may not)"

    @property
    def _additions(self) -> str:
        """The largest contributions to their instructions."""
        more = self.moves[1] - self.moves[0]
        contributions = {
            f"upper halves of 64-bit integers take {self.upper_halves} instructions": self.upper_halves,
            f"{self.meeting} instructions say where threads meet": self.meeting,
            f"it moves constants and uniform values ({self.moves[1]} instructions, ours {self.moves[0]})": more,
            f"{self.approximations} approximate functions are scaled, to keep subnormals": SCALING
            * self.approximations,
            f"{self.subroutine_calls} calls of division subroutines are set up": CALLING * self.subroutine_calls,
        }
        most = max(contributions.values())
        shown = sorted(
            (what for what, count in contributions.items() if 2 * count >= most > 0), key=lambda w: -contributions[w]
        )
        return "; ".join(shown) or "its instructions do less"


def _adds_uniform(instruction: Instruction) -> bool:
    addresses = [o for o in instruction.operands if isinstance(o, Address) and o.uniform]
    return any(isinstance(address.base, Register) for address in addresses)


def _calls(kernel: Kernel) -> int:
    functions = [f for f in kernel.module.functions if f.name == kernel.name]
    return sum(i.traits.is_call for f in functions for i in f.instructions())


def _is_approximate(instruction: Instruction) -> bool:
    """Whether machine code scales its operand and result to preserve subnormals."""
    modifiers = set(instruction.modifiers)
    return instruction.opcode in APPROXIMATE and bool(modifiers & {"approx", "full"}) and "ftz" not in modifiers


def _is_wide(instruction: Instruction) -> bool:
    vectors = [o for o in instruction.operands if isinstance(o, Vector)]
    return any(instruction.types[-1].bits * len(v.elements) == 128 for v in vectors)
