"""Verifies annotations of regions by execution, and by a static analysis; seeded errors that these have to find.

The static analysis is a forward may-analysis along the orders of the warp, which shares no rule with `regions`: it
follows the registers whose value may have been dropped, and those that a region has not preloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.checked import Checked
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.staging.regions import WORD, Annotations
from warpreg.designs.parts.window.warp_flow import warp_successors
from warpreg.ir.kernel import Kernel
from warpreg.simt.block.staging_taints import StagingEvent, StagingTaints

EARLY_ERASE, MISSING_PRELOAD, WRONG_DROP = "early erase", "missing preload", "wrong drop"


def checked_regions(kernel: Kernel, program: Program, made: Annotations) -> Checked:
    """What verifies the annotations of a kernel."""
    events = _events(program, made)
    nothing = StagingEvent()
    taints = StagingTaints(program.register_count, {pc: one for pc, one in events.items() if one != nothing})
    return Checked(kernel, taints, lambda: findings(kernel, events))


def _events(program: Program, made: Annotations) -> dict[int, StagingEvent]:
    pcs = program.unit.size
    touched: dict[int, set[int]] = {}
    for pc in range(pcs):
        touched.setdefault(int(made.first[pc]), set()).update(_sources(program, pc), _results(program, pc))
    events = {}
    for pc in range(pcs):
        inputs = _registers(made.inputs[pc])
        rows = range(program.source_start[pc], program.source_start[pc + 1])
        events[pc] = StagingEvent(
            begins=pc == 0,
            dropped=tuple(_registers(made.dropped[pc])),
            present=tuple(inputs),
            absent=tuple(sorted(touched.get(pc, set()) - set(inputs))),
            reads=tuple(_sources(program, pc)),
            writes=tuple(_results(program, pc)),
            erased=tuple(dict.fromkeys(int(program.source[row]) for row in rows if made.erased[row])),
        )
    return events


def _sources(program: Program, pc: int) -> list[int]:
    return list(dict.fromkeys(program.source[program.source_start[pc] : program.source_start[pc + 1]].tolist()))


def _results(program: Program, pc: int) -> list[int]:
    return list(dict.fromkeys(program.result[program.result_start[pc] : program.result_start[pc + 1]].tolist()))


def _registers(words: NDArray[np.int64]) -> list[int]:
    return [word * WORD + bit for word, bits in enumerate(words.tolist()) for bit in range(WORD) if bits >> bit & 1]


@dataclass(frozen=True, slots=True)
class UnstagedRead:
    """A read of a register that may not be in the staging unit; ``certain``: its block alone says so."""

    pc: int
    register: int
    certain: bool

    def __str__(self) -> str:
        return f"instruction {self.pc} reads R{self.register}, which may not be in the staging unit"


def findings(kernel: Kernel, events: dict[int, StagingEvent]) -> list[UnstagedRead]:
    """The reads that may not find their value, in order of pc."""
    first, successors = kernel.first_pcs(), warp_successors(kernel)
    entering: dict[int, frozenset[int]] = {0: frozenset()}
    work = [0]
    while work:
        block = work.pop()
        lost = set(entering[block])
        for _ in _through(events, range(first[block], first[block + 1]), lost):
            pass
        for successor in successors[block]:
            joined = entering.get(successor, frozenset()) | lost
            if entering.get(successor) != joined:
                entering[successor] = joined
                work.append(successor)
    found = []
    for block in sorted(entering):
        pcs = range(first[block], first[block + 1])
        own = set(_through(events, pcs, set()))
        found += [UnstagedRead(pc, r, (pc, r) in own) for pc, r in _through(events, pcs, set(entering[block]))]
    return found


def _through(events: dict[int, StagingEvent], pcs: range, lost: set[int]) -> Iterator[tuple[int, int]]:
    """Apply instructions to the set of lost registers; yields pc and register of the reads that may be wrong."""
    absent: set[int] = set()
    for pc in pcs:
        event = events[pc]
        lost |= set(event.dropped)
        absent = (absent - set(event.present)) | set(event.absent)
        yield from ((pc, register) for register in event.reads if register in lost | absent)
        lost |= set(event.erased)
        lost -= set(event.writes)
        absent -= set(event.writes)


@dataclass(frozen=True)
class RegionCorruption:
    """One error: a source (``row``) that drops its value, a preload that a region (``pc``) lacks, or a register that a
    block drops at its start.
    """

    kind: str
    kernel: Kernel
    program: Program
    made: Annotations
    row: int
    register: int

    def checked(self) -> Checked:
        """The wrong annotations."""
        made = self.made
        if self.kind == EARLY_ERASE:
            erased = made.erased.copy()
            erased[self.row] = 1
            wrong = made._replace(erased=erased)
        elif self.kind == MISSING_PRELOAD:
            wrong = made._replace(inputs=self._flipped(made.inputs))
        else:
            wrong = made._replace(dropped=self._flipped(made.dropped))
        return checked_regions(self.kernel, self.program, wrong)

    def _flipped(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        changed = words.copy()
        changed[self.row, self.register // WORD] ^= 1 << self.register % WORD
        return changed


def corruptions_of(
    kernel: Kernel, program: Program, made: Annotations, visits: NDArray[np.int64]
) -> Sequence[RegionCorruption]:
    """Every error in blocks that were executed, ``visits`` of them by block."""
    found = []
    for block, (begin, end) in enumerate(zip(program.first_pc[:-1], program.first_pc[1:], strict=True)):
        if not visits[block]:
            continue
        for row in range(program.source_start[begin], program.source_start[end]):
            register = int(program.source[row])
            if not made.erased[row]:
                found.append(RegionCorruption(EARLY_ERASE, kernel, program, made, row, register))
        for pc in range(begin, end):
            for register in _registers(made.inputs[pc]):
                found.append(RegionCorruption(MISSING_PRELOAD, kernel, program, made, pc, register))
                if pc == begin and not made.dropped[pc, register // WORD] >> register % WORD & 1:
                    found.append(RegionCorruption(WRONG_DROP, kernel, program, made, pc, register))
    return found
