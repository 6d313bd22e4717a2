"""Live ranges as bit sets over program points.

Instruction ``pc`` has two points: it reads at ``2 * pc`` and writes at ``2 * pc + 1``.  So a value last read by an
instruction does not interfere with its result, while two results of one instruction interfere.  Intersecting two ranges
is one ``&`` of integers.
"""

from __future__ import annotations

from warpreg.analysis.accesses import members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.liveness import liveness
from warpreg.ir.kernel import Kernel


@cached_analysis
def live_ranges(kernel: Kernel) -> tuple[int, ...]:
    """The live range of every cell of `accesses`, gaps included; a result that is never read lives at its write."""
    live = liveness(kernel)
    table = live.accesses
    ranges = [0] * len(table.cells)
    for block in kernel.blocks:
        pcs = table.block_pcs(block.index)
        end = 2 * pcs.stop - 1
        until = dict.fromkeys(members(live.live_out[block.index]), end)
        passing = live.passing(block.index)
        for pc in reversed(pcs):
            for cell in table.written[pc]:
                if table.guards[pc] and passing[pc - pcs.start] >> cell & 1:
                    ranges[cell] |= 2 << 2 * pc
                else:
                    ranges[cell] |= span(2 * pc + 1, until.pop(cell, 2 * pc + 1))
            for cell in table.read[pc]:
                if cell not in until:
                    until[cell] = 2 * pc
        for cell, last in until.items():
            ranges[cell] |= span(2 * pcs.start, last)
    return tuple(ranges)


def span(first: int, last: int) -> int:
    """The points from ``first`` to ``last``, both included."""
    return ((2 << (last - first)) - 1) << first if last >= first else 0
