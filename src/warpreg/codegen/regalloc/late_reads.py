"""Registers that an instruction may still have to read after it has issued.

Memory and texture instructions read their operands some time after they issue, so an instruction that overwrites such a
register would have to wait.  Until the result is needed, `ptxas` uses other registers if occupancy does not drop; with
these points the allocator does the same.  The delay of the machine is not published: of the few values tried, `WINDOW`
instructions, and `STORE_WINDOW` for stores, give register assignments closest to those of `ptxas`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from warpreg.analysis.accesses import Accesses, accesses
from warpreg.codegen.regalloc.allocation_units import Unit, Units
from warpreg.codegen.regalloc.live_ranges import Range, span, union
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

WINDOW = 24
STORE_WINDOW = 8

Points = dict[int, Range]
"""Sets of program points, as in `live_ranges`, by cell or by word of a unit."""


def pending(kernel: Kernel, units: Units) -> dict[Unit, Points]:
    """By unit and word, the points at which an instruction may still have to read that word."""
    cells = accesses(kernel).cells
    reads: dict[Unit, Points] = {}
    for cell, points in in_flight(kernel).items():
        if cell in units.at:
            unit, first = units.at[cell]
            words = reads.setdefault(unit, {})
            for word in range(first, first + cells.registers[cell].type.words):
                words[word] = words[word] | points if word in words else points
    return reads


def in_flight(kernel: Kernel) -> Points:
    """By cell, the points after an instruction in its block at which it may still have to read the cell; linear."""
    table = accesses(kernel)
    spans: dict[int, list[Range]] = defaultdict(list)
    for block in kernel.blocks:
        for pc, until in _late_readers(block.instructions, table, table.first_pcs[block.index]):
            if until > pc:
                for cell in table.read[pc]:
                    spans[cell].append(span(2 * pc + 1, 2 * until - 1))
    return {cell: union(found) for cell, found in spans.items()}


def _late_readers(instructions: Sequence[Instruction], table: Accesses, first: int) -> Iterator[tuple[int, int]]:
    """Each late reader of a block, with the next pc that accesses its result, or the end of its window."""
    next_use: dict[int, int] = {}
    end = first + len(instructions)
    for pc in reversed(range(first, end)):
        if instructions[pc - first].traits.accesses_memory:
            results = table.written[pc]
            window = min(end, pc + (WINDOW if results else STORE_WINDOW))
            yield pc, min([window, *(next_use[cell] for cell in results if cell in next_use)])
        next_use.update(dict.fromkeys((*table.read[pc], *table.written[pc]), pc))
