"""Liveness: the cells whose value may still be read.

Each thread of a warp has its own registers, so liveness along the control-flow graph of one thread is exact for SIMT
too. A guarded definition keeps the old value in threads where the guard is false, so it does not kill the old value,
unless all its readers are in the same block under the same guard: then no thread needs the old value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        before = self.live_out[block]
        for pc, changed in self.changes(block):
            after = before
            before ^= bit_set(changed)
            yield pc, before, after

    def changes(self, block: int) -> Iterator[tuple[int, Iterable[int]]]:
        """``(pc, cells)`` of a block's instructions, the last first: those live either before or after it, not both.

        Linear in accesses, where the bit sets of `backward` take time in proportion to the kernel's cells.
        """
        scan = _Scan(self.accesses, members(self.live_out[block]))
        for pc in reversed(self.accesses.block_pcs(block)):
            scan.step(pc)
            yield pc, scan.changed

    def merged(self, block: int) -> list[frozenset[int]]:
        """Per instruction of a block, in order: the written cells whose old value some thread still needs after it."""
        scan = _Scan(self.accesses, members(self.live_out[block]))
        found = []
        for pc in reversed(self.accesses.block_pcs(block)):
            scan.step(pc)
            found.append(scan.merged)
        return found[::-1]

    def after(self, block: int) -> list[int]:
        """The cells live after each instruction of a block, in order."""
        return [after for _, _, after in self.backward(block)][::-1]

    def names(self, bits: int) -> list[str]:
        """The names of a bit set's cells, sorted."""
        return sorted(self.accesses.cells.names[c] for c in members(bits))


@cached_analysis
def liveness(kernel: Kernel) -> Liveness:
    """Backward dataflow over blocks with one bit per cell."""
    table = accesses(kernel)
    return Liveness(table, *_solved(kernel, [_effect(table, block.index) for block in kernel.blocks]))


def exposed_at_entry(kernel: Kernel) -> int:
    """Cells that some path from the entry reads before any write; guarded writes count as writes."""
    table = accesses(kernel)
    effects = []
    for block in kernel.blocks:
        reads = kills = 0
        for pc in table.block_pcs(block.index):
            reads |= bit_set(table.read[pc]) & ~kills
            kills |= bit_set(table.written[pc])
        effects.append((reads, kills))
    return _solved(kernel, effects)[0][0]


def _solved(kernel: Kernel, effects: list[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Live cells at the start and the end of each block, from the cells that each reads and kills."""
    flow = control_flow(kernel)
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
    return tuple(live_in), tuple(live_out)


def _effect(table: Accesses, block: int) -> tuple[int, int]:
    """Cells read before they are killed, and cells killed (written in all threads)."""
    scan = _Scan(table, ())
    kills: set[int] = set()
    for pc in reversed(table.block_pcs(block)):
        scan.step(pc)
        if table.guards[pc] is None:
            kills.update(table.written[pc])
    return bit_set(scan.live), bit_set(kills)


NOTHING: frozenset[int] = frozenset()


class _Scan:
    """Live cells during a backward walk of a block.

    ``under`` maps a cell to the guard under which alone it is live: from here on, all its reads are in this block under
    that guard, before its predicate is written.  Of the last visited instruction, ``changed`` are the cells that are
    live on one side of it only, and ``merged`` the cells that it writes and whose old value stays live.
    """

    def __init__(self, table: Accesses, live: Iterable[int]) -> None:
        self.table = table
        self.live = set(live)
        self.changed: set[int] = set()
        self.merged = NOTHING
        self.under: dict[int, tuple[int, bool]] = {}

    def step(self, pc: int) -> None:
        """Move to the point before an instruction."""
        guard, written = self.table.guards[pc], self.table.written[pc]
        live, under = self.live, self.under
        changed = self.changed = set()
        for cell in written:
            if cell in live and (guard is None or under.get(cell) == guard):
                live.discard(cell)
                changed.add(cell)
                under.pop(cell, None)
            if under:
                self._unconditional(cell)
        self.merged = frozenset(cell for cell in written if cell in live) if guard else NOTHING
        for cell in self.table.read[pc]:
            if cell in live:
                if cell in under and under[cell] != guard:
                    del under[cell]
                continue
            live.add(cell)
            changed ^= {cell}
            if guard is not None and cell != guard[0]:
                under[cell] = guard

    def _unconditional(self, predicate: int) -> None:
        """A predicate is written: before that, cells live under it are live unconditionally."""
        for cell in [c for c, (p, _) in self.under.items() if p == predicate]:
            del self.under[cell]
