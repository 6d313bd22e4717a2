"""The strand rules of the register scratchpad (CASES 2018, section III-B).

A strand ends at backward branches and their targets, at blocks that several strands lead into, and before an
instruction that may be the first to depend on a long-latency result.  Other outstanding results remain outstanding, and
paths may merge of which only some have waited: an instruction after the merge that uses the result may be the first.
The paper leaves open, and we assume: an overwrite waits like a read, and a strand ends at a barrier, a fence and a host
call, where the warp may be descheduled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpreg.analysis.accesses import accesses, bit_set, members
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.strand_rules import deschedules, follows
from warpreg.analysis.strands import Boundaries, Boundary, Start, next_to_backward_branch
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class FirstDependenceRules:
    """The rules.  Without ``barriers``, strands continue across barriers, fences and host calls, as if no warp left the
    active set there."""

    barriers: bool = True

    def boundaries(self, kernel: Kernel, long_latency: Sequence[bool], forced: Mapping[int, str]) -> Boundaries:
        """Where strands begin."""
        flow = control_flow(kernel)
        first_touches = _first_touches(kernel, long_latency)
        first = kernel.first_pcs()
        names = accesses(kernel).cells.names
        blocks: dict[int, Boundary] = {}
        inside: dict[int, Boundary] = {}
        for block in flow.reverse_postorder:
            before = [p for p in flow.predecessors[block] if p in flow.reverse_postorder]
            stopped = [i for p in before for i in kernel.blocks[p].instructions[-1:] if self._stops(i)]
            if first[block] in first_touches and kernel.blocks[block].instructions:
                blocks[block] = _waits(names, first_touches[first[block]])
            elif stopped:
                blocks[block] = follows(stopped[0])
            elif block == 0:
                blocks[block] = Boundary(Start.BEGINS, "the kernel begins")
            elif why := next_to_backward_branch(flow, block):
                blocks[block] = Boundary(Start.BEGINS, why)
            elif block in forced:
                blocks[block] = Boundary(Start.BEGINS, forced[block])
            for pc in range(first[block] + 1, first[block + 1]):
                previous = kernel.blocks[block].instructions[pc - first[block] - 1]
                if pc in first_touches:
                    inside[pc] = _waits(names, first_touches[pc])
                elif self._stops(previous):
                    inside[pc] = follows(previous)
        return Boundaries(blocks, inside)

    def _stops(self, instruction: Instruction) -> bool:
        return self.barriers and deschedules(instruction)


def _waits(names: Sequence[str], touched: int) -> Boundary:
    return Boundary(Start.WAITS, f"waits for {', '.join(names[cell] for cell in members(touched))}")


def _first_touches(kernel: Kernel, long_latency: Sequence[bool]) -> dict[int, int]:
    """Bit sets of cells by pc: the instruction may be the first to access an outstanding long-latency result there.

    Forward may-analysis: a cell is outstanding from a long-latency write to the first access on every path.
    """
    flow, table = control_flow(kernel), accesses(kernel)
    arriving = dict.fromkeys(flow.reverse_postorder, 0)
    touches: dict[int, int] = {}
    waiting = list(reversed(flow.reverse_postorder))
    while waiting:
        block = waiting.pop()
        pending = arriving[block]
        for pc in table.block_pcs(block):
            written = bit_set(table.written[pc])
            touched = pending & (written | bit_set(table.read[pc]))
            if touched:
                touches[pc] = touched
            pending &= ~touched
            if long_latency[pc]:
                pending |= written
        for successor in flow.successors[block]:
            if pending & ~arriving[successor]:
                arriving[successor] |= pending
                waiting.append(successor)
    return touches
