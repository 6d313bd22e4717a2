"""The rules of the window: how long a register stays in the collector of its warp (thesis, section 3.4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from warpreg.analysis.cfg import transpose
from warpreg.designs.hints.partial_results import partial_flags
from warpreg.designs.interface.program import Program
from warpreg.designs.window.warp_flow import warp_successors
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Window:
    """A window of ``length`` instructions; time is counted in instructions that the warp issues.

    ``extended``: a read keeps a register for ``length`` instructions, as a write does; else only the instruction that
    brings it in counts.  ``looks_up_first``: an instruction looks its sources up before the oldest instruction of the
    window leaves, so a read at a distance of ``length`` still finds its register.
    """

    length: int
    extended: bool = True
    looks_up_first: bool = False

    @property
    def reach(self) -> int:
        """The largest distance from the last touch at which a read finds a register; distance 1 is the next
        instruction."""
        return self.length if self.looks_up_first else self.length - 1


@dataclass(frozen=True)
class WindowView:
    """A kernel as an analysis of windows sees it: registers as bit sets, by pc."""

    kernel: Kernel
    program: Program

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """The flow of a warp, by block."""
        return warp_successors(self.kernel)

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        return transpose(self.successors)

    @cached_property
    def reads(self) -> list[int]:
        """The registers that an instruction reads."""
        return [_bits(self.sources(pc)) for pc in self.pcs]

    @cached_property
    def kills(self) -> list[int]:
        """The registers whose old value no lane needs any more once an instruction has written them."""
        return [_bits(r for _, r, partial in self.results(pc) if not partial) for pc in self.pcs]

    @cached_property
    def merges(self) -> list[int]:
        """The registers of which an instruction writes some lanes, while others may need their old value."""
        return [_bits(r for _, r, partial in self.results(pc) if partial) & ~self.kills[pc] for pc in self.pcs]

    @property
    def pcs(self) -> range:
        return range(self.program.guarded.size)

    def block_pcs(self, block: int) -> range:
        """The pcs of a block."""
        return range(int(self.program.first_pc[block]), int(self.program.first_pc[block + 1]))

    def sources(self, pc: int) -> list[int]:
        """The registers that an instruction reads, in operand order."""
        first, end = self.program.source_start[pc], self.program.source_start[pc + 1]
        return [int(register) for register in self.program.source[first:end]]

    def results(self, pc: int) -> Iterator[tuple[int, int, bool]]:
        """Row, register, and whether other lanes may need the old value, of each result."""
        partial = partial_flags(self.kernel)
        for row in range(int(self.program.result_start[pc]), int(self.program.result_start[pc + 1])):
            yield row, int(self.program.result[row]), bool(partial[row])


def _bits(registers: Iterator[int] | list[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
