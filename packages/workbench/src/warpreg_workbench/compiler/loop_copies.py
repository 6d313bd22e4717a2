"""Copies of each loop's body in unrolled code: ours and those of ``ptxas``, from instructions by line of the PTX.

For every line of a loop's body (without those of inner loops) and every opcode, the instructions in the code with
unrolling are divided by those in the code without.  The most frequent of these ratios is the number of copies, those
for the remaining iterations included: a loop with four copies in it and three behind it has seven.  Lines that only
count, compare, branch or compute addresses are left out unless the body has no others, because copies share them, and
so are moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from warpreg.analysis.loops import loops
from warpreg.ir.kernel import Kernel
from warpreg_workbench.compiler.vendor_compiler import MachineCode

SHARED = frozenset({"bra", "setp", "mov", "add", "cvt", "cvta", "shl", "and"})
"""Opcodes of PTX whose instructions copies may share."""

MOVES = frozenset({"mov", "MOV", "UMOV", "ULDC", "PLOP3"})

Counts = Mapping[tuple[int, str], int]
"""Instructions by line of the PTX and opcode."""


@dataclass(frozen=True, slots=True)
class LoopCopies:
    """A loop by the label of its header, and how many copies of its body our code and that of ``ptxas`` have."""

    header: str
    ours: int
    theirs: int

    @property
    def is_unrolled(self) -> bool:
        """Whether one of the two compilers unrolled it."""
        return max(self.ours, self.theirs) > 1


def our_counts(kernel: Kernel) -> Counts:
    """The instructions of our code."""
    return Counter((i.location.line, i.opcode) for i in kernel.instructions() if i.location and i.opcode not in MOVES)


def their_counts(code: MachineCode) -> Counts:
    """The instructions of the code of ``ptxas``."""
    opcodes = ((line.number, line.opcode.split(".")[0]) for line in code.code)
    return Counter((number, opcode) for number, opcode in opcodes if opcode not in MOVES)


def loop_copies(kernel: Kernel, ours: tuple[Counts, Counts], theirs: tuple[Counts, Counts]) -> Iterator[LoopCopies]:
    """The copies of each loop of a kernel before compilation; counts are with unrolling and without.

    A loop of which a compiler keeps no instruction is left out.
    """
    forest = loops(kernel)
    lines = [{line for line, _ in rolled} for _, rolled in (ours, theirs)]
    for index, loop in enumerate(forest.loops):
        inner = {b for other in forest.loops if other.parent == index for b in other.blocks}
        body = [i for b in loop.blocks - inner for i in kernel.blocks[b].instructions]
        placed = [(i.location.line, i.opcode) for i in body if i.location]
        own = {line for line, opcode in placed if opcode not in SHARED} or {line for line, _ in placed}
        own &= lines[0] & lines[1]
        if own:
            label = kernel.blocks[loop.header].label
            yield LoopCopies(label, _copies(*ours, own), _copies(*theirs, own))


def _copies(unrolled: Counts, rolled: Counts, lines: Iterable[int]) -> int:
    """The most frequent ratio of instructions in these lines, the largest of several; at least 1."""
    wanted = set(lines)
    found = Counter(round(unrolled.get(key, 0) / count) for key, count in rolled.items() if key[0] in wanted)
    return max(1, max(found, key=lambda ratio: (found[ratio], ratio)))
