"""The strand rules of the compiler-managed hierarchy (Gebhart et al., MICRO 2011, section 4.1).

A strand depends only on long-latency results that were requested before it.  So it ends before an instruction that
accesses an outstanding result, where the warp waits for all of them; at a merge of paths of which only some have an
outstanding result; and at backward branches.  The paper leaves open, and we assume: an overwrite waits like a read; a
dead result is not waited for at a merge; a warp may be descheduled at a barrier, a fence and a host call, so strands
end there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warpreg.analysis.accesses import Accesses, accesses, bit_set, members
from warpreg.analysis.cfg import ControlFlow, control_flow
from warpreg.analysis.liveness import Liveness, liveness
from warpreg.analysis.strands import Boundaries, Boundary, Start, next_to_backward_branch, retreating
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

UNCERTAIN = "a long-latency result is outstanding on some paths only"


@dataclass(frozen=True, slots=True)
class LongLatencyRules:
    """The rules.  Without ``descheduling``, strands continue across waits and barriers, as if every warp were always
    active; without ``backward_branches``, across those (limit studies of section 7); without ``barriers``, only across
    barriers, fences and host calls, as if no warp left the active set there."""

    descheduling: bool = True
    backward_branches: bool = True
    barriers: bool = True

    def boundaries(self, kernel: Kernel, long_latency: Sequence[bool], forced: Mapping[int, str]) -> Boundaries:
        """Where strands begin.

        The results outstanding at a loop header are those of its forward paths; if its backward branches differ, the
        header waits, and the search restarts.
        """
        uncertain: set[int] = set()
        while True:
            search = _Search(kernel, self, long_latency, forced, uncertain)
            search.run()
            more = search.uncertain_headers()
            if more <= uncertain:
                return Boundaries(search.blocks, search.inside)
            uncertain |= more


@dataclass
class _Search:
    """One pass over the blocks in reverse postorder; bit sets of cells hold outstanding results."""

    kernel: Kernel
    rules: LongLatencyRules
    long_latency: Sequence[bool]
    forced: Mapping[int, str]
    uncertain: set[int]
    blocks: dict[int, Boundary] = field(default_factory=dict)
    inside: dict[int, Boundary] = field(default_factory=dict)
    arriving: dict[int, int] = field(default_factory=dict)
    leaving: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.flow: ControlFlow = control_flow(self.kernel)
        self.live: Liveness = liveness(self.kernel)
        self.table: Accesses = accesses(self.kernel)
        self.is_backward = retreating(self.flow)
        self.reachable = frozenset(self.flow.reverse_postorder)

    def run(self) -> None:
        for block in self.flow.reverse_postorder:
            before = [p for p in self.flow.predecessors[block] if p in self.leaving]
            live = self.live.live_in[block]
            pending = {self.leaving[p] & live for p in before} or {0}
            boundary = self._at_start(block, before, len(pending) > 1)
            waits = boundary is not None and boundary.start is Start.WAITS
            if boundary is not None:
                self.blocks[block] = boundary
            self.arriving[block] = 0 if waits else pending.pop()
            self.leaving[block] = self._through(block, self.arriving[block])

    def uncertain_headers(self) -> set[int]:
        """Targets of backward branches whose outstanding results differ from those of the forward paths."""
        if not self.rules.descheduling:
            return set()
        return {
            block
            for block in self.arriving
            for p in self.flow.predecessors[block]
            if p in self.reachable and self.is_backward(p, block)
            if self.leaving[p] & self.live.live_in[block] != self.arriving[block]
        }

    def _at_start(self, block: int, before: Sequence[int], differs: bool) -> Boundary | None:
        if self.rules.descheduling and (differs or block in self.uncertain):
            return Boundary(Start.WAITS, UNCERTAIN)
        inherited = [self.blocks[p] for p in before if p in self.blocks and not self.kernel.blocks[p].instructions]
        if self.rules.descheduling:
            stops = [follows(i) for p in before for i in self.kernel.blocks[p].instructions[-1:] if self._stops(i)]
            lossy = [*stops, *(boundary for boundary in inherited if boundary.start.deschedules)]
            if lossy:
                return lossy[0]
        if block == 0:
            return Boundary(Start.BEGINS, "the kernel begins")
        if self.rules.backward_branches and (why := next_to_backward_branch(self.flow, block)):
            return Boundary(Start.BEGINS, why)
        if block in self.forced:
            return Boundary(Start.BEGINS, self.forced[block])
        return inherited[0] if inherited else None

    def _stops(self, instruction: Instruction) -> bool:
        return self.rules.barriers and deschedules(instruction)

    def _through(self, block: int, pending: int) -> int:
        """Results outstanding at the end of a block, given those at its start; records boundaries inside."""
        first, code = self.table.first_pcs[block], self.kernel.blocks[block].instructions
        for pc in self.table.block_pcs(block):
            written = bit_set(self.table.written[pc])
            touched = pending & (written | bit_set(self.table.read[pc]))
            if self.rules.descheduling and touched:
                self._wait(block, pc, touched)
                pending = 0
            elif self.rules.descheduling and pc > first and self._stops(code[pc - first - 1]):
                self.inside[pc] = follows(code[pc - first - 1])
            if self.long_latency[pc]:
                pending |= written
        return pending

    def _wait(self, block: int, pc: int, touched: int) -> None:
        names = ", ".join(self.table.cells.names[cell] for cell in members(touched))
        boundary = Boundary(Start.WAITS, f"waits for {names}")
        if pc == self.table.first_pcs[block]:
            self.blocks[block] = boundary
        else:
            self.inside[pc] = boundary


def deschedules(instruction: Instruction) -> bool:
    """Whether a warp may be descheduled after it: blocking barriers of the thread block, fences, host calls."""
    traits = instruction.traits
    return traits.is_fence or traits.is_service or traits.awaits_others


def follows(instruction: Instruction) -> Boundary:
    """The boundary after an instruction that deschedules."""
    return Boundary(Start.RESUMES, f"follows '{instruction.full_opcode}'")
