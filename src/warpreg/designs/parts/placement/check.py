"""Verifies hint columns: a read must name a place that holds its register's current value on every path.

A forward must-analysis that shares no code with the placement.  Each place above the MRF holds the current value of at
most one register; for each register the state records whether the MRF holds its current value.  The meet of paths is
the intersection; the start of a strand clears all places above the MRF.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warpreg.analysis.cfg import control_flow
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.placement.instances import KernelView
from warpreg.ir.kernel import Kernel

Place = tuple[int, int]
"""Level and entry; the MRF's places are (0, register)."""
MRF = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """A read of a place that may not hold the register's value."""

    pc: int
    register: int
    place: Place
    certain: bool = True

    def __str__(self) -> str:
        level, entry = self.place
        where = "the MRF" if level == MRF else f"entry {entry} of level {level}"
        return f"instruction {self.pc} reads R{self.register} from {where}, which need not hold it"


@dataclass
class _State:
    """``holds`` maps places above the MRF to registers; ``stale`` are registers whose value the MRF may not hold."""

    holds: dict[Place, int] = field(default_factory=dict)
    stale: frozenset[int] = frozenset()

    def joined(self, other: _State) -> _State:
        return _State({p: r for p, r in self.holds.items() if other.holds.get(p) == r}, self.stale | other.stale)


def findings(kernel: Kernel, program: Program) -> list[Finding]:
    """The reads that may not find their register's current value, in order of pc."""
    view = KernelView(kernel, program)
    flow = control_flow(kernel)
    entering: dict[int, _State] = {0: _State()}
    work = [0]
    while work:
        block = work.pop()
        state = _State(dict(entering[block].holds), entering[block].stale)
        for _ in _through(view, block, state):
            pass
        for successor in flow.successors[block]:
            joined = entering[successor].joined(state) if successor in entering else state
            if entering.get(successor) != joined:
                entering[successor] = _State(dict(joined.holds), joined.stale)
                work.append(successor)
    return [finding for block in sorted(entering) for finding in _through(view, block, entering[block])]


def _through(view: KernelView, block: int, state: _State) -> Iterator[Finding]:
    """Apply a block's instructions to a state; yields the wrong reads."""
    program = view.program
    for pc in view.live.accesses.block_pcs(block):
        if program.strand_start[pc]:
            state.holds.clear()
        yield from _reads(program, pc, state)
        _fills(program, pc, state)
        _writes(view, pc, state)


def _reads(program: Program, pc: int, state: _State) -> Iterator[Finding]:
    for row in range(program.source_start[pc], program.source_start[pc + 1]):
        register, level = int(program.source[row]), int(program.source_level[row])
        place = (level, int(program.source_entry[row])) if level else (MRF, register)
        right = state.holds.get(place) == register if level else register not in state.stale
        if not right:
            yield Finding(pc, register, place)


def _fills(program: Program, pc: int, state: _State) -> None:
    """Apply fills of values that were read correctly; a guarded fill covers only some lanes and does not count."""
    for row in range(program.source_start[pc], program.source_start[pc + 1]):
        if program.fill_level[row]:
            place = int(program.fill_level[row]), int(program.fill_entry[row])
            if program.guarded[pc]:
                state.holds.pop(place, None)
            else:
                state.holds[place] = int(program.source[row])


def _writes(view: KernelView, pc: int, state: _State) -> None:
    """Apply writes: they make the register's other places stale and replace the content of the places written.

    If a guarded write leaves the old value in some lanes, a written place holds the value only if it did before.
    """
    program, kept = view.program, view.merging.get(pc, ())
    for row in range(program.result_start[pc], program.result_start[pc + 1]):
        register = int(program.result[row])
        merges = view.cells[register] in kept
        taken = {
            (int(level), int(entry))
            for level, entry in (
                (program.result_level[row], program.result_entry[row]),
                (program.copy_level[row], program.copy_entry[row]),
            )
            if level
        }
        before = {place for place, held in state.holds.items() if held == register}
        for place in before - taken:
            del state.holds[place]
        for place in taken:
            if merges and place not in before:
                state.holds.pop(place, None)
            else:
                state.holds[place] = register
        in_mrf = not program.mrf_elided[row] and not (merges and register in state.stale)
        state.stale = state.stale - {register} if in_mrf else state.stale | {register}
