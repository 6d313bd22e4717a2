"""Liveness of values: like that of cells, but two values of one register are told apart."""

from __future__ import annotations

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
    live there."""
    flow, live, found = control_flow(kernel), liveness(kernel), values(kernel)
    table = live.accesses
    of_cell = [0] * len(table.cells)
    for number, value in enumerate(found.values):
        of_cell[value.cell] |= 1 << number
    live_in = [0] * len(kernel.blocks)
    before, after = [0] * len(found.read), [0] * len(found.read)
    pending = set(range(len(kernel.blocks)))
    while pending:
        block = max(pending)
        pending.discard(block)
        held = 0
        for successor in flow.successors[block]:
            held |= live_in[successor]
        for pc, cells_before, cells_after in live.backward(block):
            after[pc] = held = held & _values_of(of_cell, cells_after)
            if table.guards[pc] is None:
                held &= ~bit_set(found.written[pc])
            before[pc] = held = (held | bit_set(found.read[pc])) & _values_of(of_cell, cells_before)
        if held != live_in[block]:
            live_in[block] = held
            pending.update(flow.predecessors[block])
    return LiveValues(tuple(before), tuple(after), tuple(waiting_lanes(kernel, live_in)))


def _values_of(of_cell: list[int], cells: int) -> int:
    """All values of some cells."""
    return sum(of_cell[cell] for cell in members(cells))
