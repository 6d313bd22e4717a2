"""Liveness of values: like that of cells, but two values of one register are told apart."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.accesses import bit_set, members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.last_reads import waiting_lanes
from warpreg.analysis.liveness import liveness
from warpreg.analysis.values import values
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class LiveValues:
    """Bit sets of value numbers, live in a thread ``before`` and ``after`` each pc, and ``waiting``, by block: those
    that inactive lanes of the warp may still read."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    waiting: tuple[int, ...]


@cached_analysis
def live_values(kernel: Kernel) -> LiveValues:
    """A backward analysis.  A guarded write does not end the older lanes of its own value, as far as the register is
    live there.
    """
    scan = _Scan(kernel)
    live_in = scan.solved()
    before, after = [0] * len(scan.found.read), [0] * len(scan.found.read)
    for block, successors in enumerate(control_flow(kernel).successors):
        held = functools.reduce(operator.or_, (live_in[successor] for successor in successors), 0)
        for pc, passing, reads, may_enter, may_leave in scan.backward(block):
            after[pc] = held & may_leave
            before[pc] = held = (held & passing | reads) & may_enter
    return LiveValues(tuple(before), tuple(after), tuple(waiting_lanes(kernel, live_in)))


class _Scan:
    """What instructions do to bit sets of live values, from back to front."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.live, self.found = kernel, liveness(kernel), values(kernel)
        self.of_cell = [0] * len(self.live.accesses.cells)
        for number, value in enumerate(self.found.values):
            self.of_cell[value.cell] |= 1 << number

    def backward(self, block: int) -> Iterator[tuple[int, int, int, int, int]]:
        """For each pc of a block: the values that pass it, those that it reads, and those whose registers are live
        before it and after it."""
        guards, known, cells = self.live.accesses.guards, 0, 0
        for pc, cells_before, cells_after in self.live.backward(block):
            may_leave = known = known ^ self._values_of(cells ^ cells_after)
            may_enter = known = known ^ self._values_of(cells_before ^ cells_after)
            cells = cells_before
            passing = may_leave if guards[pc] else may_leave & ~bit_set(self.found.written[pc])
            yield pc, passing, bit_set(self.found.read[pc]), may_enter, may_leave

    def solved(self) -> list[int]:
        """The values live at the start of each block."""
        flow, effects = control_flow(self.kernel), [self._effect(block.index) for block in self.kernel.blocks]
        live_in = [0] * len(effects)
        pending = set(range(len(effects)))
        while pending:
            block = max(pending)
            pending.discard(block)
            held = functools.reduce(operator.or_, (live_in[successor] for successor in flow.successors[block]), 0)
            passing, reads = effects[block]
            if (into := held & passing | reads) != live_in[block]:
                live_in[block] = into
                pending.update(flow.predecessors[block])
        return live_in

    def _effect(self, block: int) -> tuple[int, int]:
        """The values that pass a block, and those that it reads."""
        passes, needs = -1, 0
        for _, passing, reads, may_enter, _ in self.backward(block):
            passes &= passing & may_enter
            needs = (needs & passing | reads) & may_enter
        return passes, needs

    def _values_of(self, cells: int) -> int:
        """All values of some cells."""
        return sum(self.of_cell[cell] for cell in members(cells))
