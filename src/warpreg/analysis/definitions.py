"""Registers in static single-assignment form: one unguarded write, which precedes every read on every path.

Compilers emit nearly all registers in this form.  The definition dominates every read, so facts about the definition
hold at every read (Cytron et al., TOPLAS 1991, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.liveness import liveness
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class SingleDefinitions:
    """``defining`` maps the name of a singly assigned register to its instruction; ``reads`` counts reads of any
    register."""

    defining: dict[str, Instruction]
    reads: dict[str, int]

    def __contains__(self, name: str) -> bool:
        return name in self.defining


@cached_analysis
def single_definitions(kernel: Kernel) -> SingleDefinitions:
    """The singly assigned virtual registers of a kernel; linear."""
    live = liveness(kernel)
    table = live.accesses
    writes = [0] * len(table.cells)
    reads = [0] * len(table.cells)
    last: list[int] = [0] * len(table.cells)
    for pc, written in enumerate(table.written):
        for cell in written:
            writes[cell] += 2 if table.guards[pc] else 1
            last[cell] = pc
        for cell in table.read[pc]:
            reads[cell] += 1
    instructions = list(kernel.instructions())
    names = table.cells.names
    undefined = live.live_in[0]
    defining = {names[c]: instructions[last[c]] for c in range(len(names)) if writes[c] == 1 and not undefined >> c & 1}
    return SingleDefinitions(defining, dict(zip(names, reads, strict=True)))
