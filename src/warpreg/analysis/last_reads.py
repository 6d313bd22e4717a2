"""Which reads are the last of their value, for the whole warp and not only for one thread."""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.liveness import liveness
from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register


def source_registers(instruction: Instruction) -> tuple[Register, ...]:
    """Register-file registers named by source operands: no predicates, no uniform registers, no guard."""
    return tuple(r for operand in instruction.sources for r in registers_of(operand) if r.words)


@cached_analysis
def last_reads(kernel: Kernel) -> list[bool]:
    """Per source operand (registers by pc, flattened to warp-registers), whether its value is dead once the instruction
    has read it.

    A value is dead if it is dead in every lane: no path reads the register before writing it again, and no inactive
    lane (on the other side of a divergent branch or at its reconvergence point) still needs its own copy.  An unguarded
    write by the reading instruction itself ends the old value.  If an instruction names a dying register several times,
    all these operands carry the flag.
    """
    live = liveness(kernel)
    waiting = waiting_lanes(kernel, live.live_in)
    sources = [source_registers(instruction) for instruction in kernel.instructions()]
    flags: list[list[bool]] = [[] for _ in sources]
    for block in kernel.blocks:
        for pc, _, after in live.backward(block.index):
            if live.accesses.guards[pc] is None:
                for cell in live.accesses.written[pc]:
                    after &= ~(1 << cell)
            needed = after | waiting[block.index]
            cells = (cell for register in sources[pc] for cell in live.accesses.cells.of(register))
            flags[pc] = [not needed >> cell & 1 for cell in cells]
    return [flag for row in flags for flag in row]


def waiting_lanes(kernel: Kernel, live_in: Sequence[int]) -> list[int]:
    """Per block, the cells that inactive lanes may still need while the block runs, as bit sets.

    Inactive lanes wait at the other targets of an enclosing branch or at its reconvergence point.  Any branch with two
    targets may diverge.
    """
    flow, meeting = control_flow(kernel), reconvergence(kernel)
    waiting = [0] * len(kernel.blocks)
    for branch, targets in enumerate(flow.successors):
        if len(targets) < 2:
            continue
        end = meeting[branch]
        needed = live_in[end] if end >= 0 else 0
        for target in targets:
            needed |= live_in[target]
        for block in _region(flow.successors, targets, end):
            waiting[block] |= needed
    return waiting


def _region(successors: Sequence[Sequence[int]], targets: Sequence[int], end: int) -> set[int]:
    """Blocks reachable from the targets of a branch without passing its reconvergence point ``end``."""
    region: set[int] = set()
    work = [target for target in targets if target != end]
    while work:
        block = work.pop()
        if block not in region:
            region.add(block)
            work.extend(s for s in successors[block] if s != end)
    return region
