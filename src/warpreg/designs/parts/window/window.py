"""The rules of the window: how long a register stays in the collector of its warp (thesis, section 3.4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from warpreg.analysis.accesses import accesses, bit_set, members
from warpreg.analysis.cfg import transpose
from warpreg.analysis.values import Values, values
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.window.live_values import live_values
from warpreg.designs.parts.window.warp_flow import warp_successors
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
    """A kernel as an analysis of windows sees it: bit sets by pc, of registers or of values.

    A value is a web of `warpreg.analysis.values`.  A thread that reads a register reads one value of it; for the warp,
    the register's entry may hold lanes of several values.
    """

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
        return [bit_set(self.sources(pc)) for pc in self.pcs]

    @cached_property
    def kills(self) -> list[int]:
        """The registers whose old value no lane needs any more once an instruction has written them."""
        return [bit_set(r for _, r, partial in self.results(pc) if not partial) for pc in self.pcs]

    @cached_property
    def merges(self) -> list[int]:
        """The registers of which an instruction writes some lanes, while others may need their old value."""
        return [bit_set(r for _, r, partial in self.results(pc) if partial) & ~self.kills[pc] for pc in self.pcs]

    @cached_property
    def values(self) -> Values:
        return values(self.kernel)

    @cached_property
    def read_values(self) -> list[int]:
        """The values of registers that an instruction reads."""
        return [bit_set(self._of_registers(self.values.read[pc])) for pc in self.pcs]

    @cached_property
    def needed_values(self) -> list[int]:
        """The values that some lane of the warp may read after an instruction."""
        live = live_values(self.kernel)
        waiting = [live.waiting[block.index] for block in self.kernel.blocks for _ in block.instructions]
        return [after | others for after, others in zip(live.after, waiting, strict=True)]

    def written_values(self, pc: int) -> list[int]:
        """The values that an instruction writes to registers, one per result of the program table."""
        return list(self._of_registers(self.values.written[pc]))

    def results_of(self, numbers: set[int]) -> list[bool]:
        """Per result of the program table, whether it is of one of these values."""
        return [value in numbers for pc in self.pcs for value in self.written_values(pc)]

    def values_of(self, registers: int) -> int:
        """All values of some registers."""
        return sum(self._by_register.get(register, 0) for register in members(registers))

    @cached_property
    def _by_register(self) -> dict[int, int]:
        values: dict[int, int] = {}
        for number, value in enumerate(self.values.values):
            name = self._names[value.cell]
            if name[0] == "R":
                register = int(name[1:])
                values[register] = values.get(register, 0) | 1 << number
        return values

    @cached_property
    def _names(self) -> list[str]:
        return accesses(self.kernel).cells.names

    def _of_registers(self, numbers: tuple[int, ...]) -> Iterator[int]:
        return (number for number in numbers if self._names[self.values.values[number].cell][0] == "R")

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
