"""Which cells hold a value that may still be read.

Threads of a warp have registers of their own, so liveness along the control-flow graph of one thread is exact for
SIMT too. A guarded definition keeps the old value in threads where the guard is false, so it does not end the old
value's life.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.accesses import Accesses, accesses, bit_set, members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Liveness:
    """Bit sets of cells live at the start (``live_in``) and the end (``live_out``) of each block."""

    accesses: Accesses
    live_in: tuple[int, ...]
    live_out: tuple[int, ...]

    def backward(self, block: int) -> Iterator[tuple[int, int, int]]:
        """``(pc, live before, live after)`` of a block's instructions, the last first."""
        live = self.live_out[block]
        table = self.accesses
        for pc in reversed(table.block_pcs(block)):
            after = live
            if not table.guarded[pc]:
                for cell in table.written[pc]:
                    live &= ~(1 << cell)
            for cell in table.read[pc]:
                live |= 1 << cell
            yield pc, live, after

    def after(self, block: int) -> list[int]:
        """What is live after each instruction of a block, in order."""
        return [after for _, _, after in self.backward(block)][::-1]

    def names(self, bits: int) -> list[str]:
        """The names of a bit set's cells, sorted."""
        return sorted(self.accesses.cells.names[c] for c in members(bits))


@cached_analysis
def liveness(kernel: Kernel) -> Liveness:
    """Backward dataflow over blocks with one bit a cell."""
    table, flow = accesses(kernel), control_flow(kernel)
    effects = [_effect(table, block.index) for block in kernel.blocks]
    live_in = [0] * len(effects)
    live_out = [0] * len(effects)
    pending = set(range(len(effects)))
    order = [*flow.reverse_postorder[::-1]]
    while pending:
        for block in order:
            if block not in pending:
                continue
            pending.discard(block)
            out = 0
            for successor in flow.successors[block]:
                out |= live_in[successor]
            live_out[block] = out
            reads, kills = effects[block]
            into = reads | (out & ~kills)
            if into != live_in[block]:
                live_in[block] = into
                pending.update(flow.predecessors[block])
        pending.intersection_update(order)
    return Liveness(table, tuple(live_in), tuple(live_out))


def _effect(table: Accesses, block: int) -> tuple[int, int]:
    """Cells read before any sure write, and cells surely written."""
    reads = kills = 0
    for pc in table.block_pcs(block):
        reads |= bit_set(table.read[pc]) & ~kills
        if not table.guarded[pc]:
            kills |= bit_set(table.written[pc])
    return reads, kills
