"""The annotated listing of a compiled kernel: instructions with the live ranges of registers drawn beside them.

One column per register.  A range starts at ``┬`` (written), continues with ``│``, is read and remains live at ``├``,
and ends at ``┴`` (last read); ``┼`` reads or merges the old value and writes a new one; ``·`` is written and never
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpreg.analysis.liveness import Liveness, liveness
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel

LEGEND = "┬ written   │ live   ├ read   ┴ last read   ┼ read or merged, and written   · written, never read"

CONTROL_HEADER = "  waits:R:W:yield:stall"
"""Above control codes: counters waited for, those for reads and for the write, yield, stall cycles."""


@dataclass(frozen=True, slots=True)
class Column:
    """One architected register: its cell in the analyses, its number, and whether it is a predicate."""

    cell: int
    index: int
    is_predicate: bool

    @property
    def name(self) -> str:
        return f"{'P' if self.is_predicate else 'R'}{self.index}"


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction.  ``live`` names the registers live after it; ``ranges`` has one character per column."""

    pc: int
    instruction: Instruction
    ranges: str
    live: tuple[str, ...]

    @property
    def control(self) -> str:
        """The control code of machine code behind two spaces; nothing without one."""
        return f"  {self.instruction.control}" if self.instruction.control else ""

    @property
    def pressure(self) -> int:
        """32-bit registers live after the instruction."""
        return sum(name.startswith("R") for name in self.live)


@dataclass(frozen=True, slots=True)
class BlockListing:
    """One basic block with its instructions."""

    block: Block
    lines: tuple[Line, ...]

    @property
    def title(self) -> str:
        """``block 3 LOOP -> 1, 4``"""
        successors = ", ".join(map(str, self.block.successors))
        label = f"block {self.block.index} {self.block.label}".rstrip()
        return f"{label} -> {successors}" if successors else f"{label} (end)"


@dataclass(frozen=True, slots=True)
class Listing:
    """A kernel; ``columns`` are its registers in order, predicates last."""

    kernel: Kernel
    columns: tuple[Column, ...]
    blocks: tuple[BlockListing, ...]

    @property
    def pressure(self) -> int:
        """The most 32-bit registers live at once."""
        return max((line.pressure for block in self.blocks for line in block.lines), default=0)

    def header(self) -> tuple[str, str]:
        """Register numbers above the columns, tens over units; predicates are marked ``P``."""
        tens = "".join(
            "P" if c.is_predicate else str(c.index // 10 % 10) if c.index % 10 == 0 else " " for c in self.columns
        )
        return tens, "".join(str(column.index % 10) for column in self.columns)

    def text(self) -> Iterator[str]:
        """The listing as lines of plain text; machine code has its control codes before the instructions."""
        tens, units = self.header()
        yield f"      {tens}"
        yield f"   pc {units} live{self.control_header}"
        for block in self.blocks:
            yield block.title
            for line in block.lines:
                source = line.instruction.source
                where = f"  // {source}" if source else ""
                yield f"{line.pc:5d} {line.ranges} {line.pressure:4d}{line.control}  {line.instruction}{where}"

    @property
    def control_header(self) -> str:
        """What stands above the control codes of machine code; nothing without them."""
        lines = (line for block in self.blocks for line in block.lines)
        return CONTROL_HEADER if any(line.control for line in lines) else ""


def listing(kernel: Kernel) -> Listing:
    """The listing of a ``kernel`` with architected registers."""
    live = liveness(kernel)
    columns = _columns(live)
    return Listing(kernel, columns, tuple(_block(block, live, columns) for block in kernel.blocks))


def _columns(live: Liveness) -> tuple[Column, ...]:
    cells = live.accesses.cells
    kept = ((c, name) for c, name in enumerate(cells.names) if not cells.registers[c].is_uniform)
    columns = [Column(c, int(name[1:]), cells.registers[c].is_predicate) for c, name in kept]
    return tuple(sorted(columns, key=lambda column: (column.is_predicate, column.index)))


def _block(block: Block, live: Liveness, columns: Sequence[Column]) -> BlockListing:
    table, lines = live.accesses, []
    for pc, before, after in live.backward(block.index):
        read, written = set(table.read[pc]), set(table.written[pc])
        ranges = "".join(
            _mark(before >> c.cell & 1, after >> c.cell & 1, c.cell in read, c.cell in written) for c in columns
        )
        alive = tuple(column.name for column in columns if after >> column.cell & 1)
        lines.append(Line(pc, block.instructions[pc - table.first_pcs[block.index]], ranges, alive))
    return BlockListing(block, tuple(reversed(lines)))


def _mark(before: int, after: int, read: bool, written: bool) -> str:
    if written:
        if before:
            return "┼" if after else "┴"
        return "┬" if after else "·"
    if read:
        return "├" if after else "┴"
    return "│" if after else " "
