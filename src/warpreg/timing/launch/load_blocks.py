"""Load more thread blocks into the core during a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpreg.timing.core.columns import clock, machine, ops, warps
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import Array, OpRow
from warpreg.timing.core.whole_columns import WholeColumns, ops_of, warps_of
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.launch.load_widths import records_with_widths
from warpreg.trace import long_arrays

LONG = 256
"""Words from which on one piece of its own costs less than an index for each word.  Chosen, not measured."""
BEHIND_VISITS = np.array([0, 0, 1, 1])
"""Which columns of the starts count from the end of the visits."""


class LoadBatch:
    """Thread blocks to be loaded together: ``count`` of them, and the ``pieces`` that contain their visits and records.

    What does not fit in memory is joined to long arrays at once.
    """

    def __init__(self) -> None:
        self.count, self.size = 0, 0
        self._long: list[Array] = []
        self._recent: list[Array] = []
        self._starts: list[Array] = []

    @property
    def pieces(self) -> list[Array]:
        return self._long + self._recent

    def starts(self, offset: int) -> list[Array]:
        """Start and end of each warp's visits and records, int64[warps, 4], if the pieces begin at ``offset``."""
        return [one + offset for one in self._starts]

    def add(self, batch: ThreadBlocks) -> None:
        """Append thread blocks."""
        self.count += batch.count
        self.append(*_of_batch(batch))

    def append(self, begins: Array, visits: Array, records: Array) -> None:
        """Append warps, whose ``begins`` count from the beginning of the two arrays."""
        self._starts.append(begins + self.size + visits.size * BEHIND_VISITS)
        self._recent += [visits, records]
        self.size += visits.size + records.size
        if sum(one.nbytes for one in self._recent) > long_arrays.IN_MEMORY_BYTES:
            self._long.append(long_arrays.joined(self._recent))
            self._recent = []


def more_blocks(core: Core, batches: LoadBatch, operations: Sequence[tuple[int, int]]) -> Core:
    """Append the thread blocks of ``batches`` to those that wait for dispatch; keep the data of resident warps.

    ``operations``: the indices of those that may be in use, first ones and those after the last ones.
    """
    kept, resident = _keep_resident(core, operations)
    waiting = LoadBatch()
    waiting.append(*_waiting(core))
    starts = waiting.starts(resident) + batches.starts(resident + waiting.size)
    core.clock[clock.FIRST_LOADED] = core.clock[clock.NEXT_BLOCK]
    core.clock[clock.LOADED_BLOCKS] += batches.count
    core.clock[clock.STARTS] = resident + waiting.size + batches.size
    pieces = (*kept, *waiting.pieces, *batches.pieces, *(one.reshape(-1) for one in starts))
    return core._replace(slab=long_arrays.joined(pieces))


def _of_batch(batch: ThreadBlocks) -> tuple[Array, Array, Array]:
    """Start and end of each warp's visits and records, int64[warps, 4]; then the visits and the records."""
    start, accesses = records_with_widths(batch)
    begins = np.empty((start.size - 1, 4), np.int64)
    begins[:, 0], begins[:, 1] = batch.visit_start[:-1], batch.visit_start[1:]
    begins[:, 2], begins[:, 3] = start[:-1], start[1:]
    return begins, batch.visits, accesses


def _waiting(core: Core) -> tuple[Array, Array, Array]:
    """The same for thread blocks that are loaded and not dispatched yet."""
    begin, block_warps = int(core.clock[clock.STARTS]), int(core.machine[machine.BLOCK_WARPS])
    placed = int(core.clock[clock.NEXT_BLOCK] - core.clock[clock.FIRST_LOADED]) * block_warps
    loaded = int(core.clock[clock.LOADED_BLOCKS] - core.clock[clock.FIRST_LOADED]) * block_warps
    begins = core.slab[begin : begin + 4 * loaded].reshape(-1, 4)[placed:]
    if not begins.size:
        return begins, core.slab[:0], core.slab[:0]
    first, last = begins[0], begins[-1]
    visits, records = core.slab[first[0] : last[1]], core.slab[first[2] : last[3]]
    return begins - first[[0, 0, 2, 2]], visits, records


def _keep_resident(core: Core, operations: Sequence[tuple[int, int]]) -> tuple[list[Array], int]:
    """The remaining visits and records of resident warps, records in flight included, and their size."""
    if core.clock[clock.NEXT_BLOCK] == 0:
        return [], 0
    slots = warps_of(core)
    present = np.flatnonzero(slots[warps.PRESENT])
    ranges = ((warps.VISIT, warps.VISIT_END), (warps.RECORDS, warps.RECORDS_END))
    first = np.stack([slots[begin][present] for begin, _ in ranges], axis=1)
    lengths = np.stack([slots[end][present] for _, end in ranges], axis=1) - first
    pieces, begins = _copied(core.slab, first.reshape(-1), lengths.reshape(-1))
    further = begins.reshape(-1, 2) - first
    for column in (warps.VISIT, warps.VISIT_END):
        slots[column][present] += further[:, 0]
    for column in (warps.ACCESS, warps.RECORDS, warps.RECORDS_END):
        slots[column][present] += further[:, 1]
    moved = np.zeros(len(slots.rows), np.int64)
    moved[present] = further[:, 1]
    for begin, end in operations:
        taken = WholeColumns[OpRow](ops_of(core).rows[begin:end])
        by = moved[(taken[ops.WARP] - core.machine[machine.FIRST_WARP]) // core.machine[machine.WARP_ROW]]
        for column_of_op in (ops.RECORD, ops.CURSOR):
            taken[column_of_op] += np.where((taken[ops.PC] >= 0) & (taken[column_of_op] >= 0), by, 0)
    return pieces, int(lengths.sum())


def _copied(slab: Array, begins: Array, lengths: Array) -> tuple[list[Array], Array]:
    """Pieces that contain so many words of ``slab`` from each of ``begins`` on, and where these begin in the pieces."""
    is_long = lengths >= LONG
    order = np.argsort(is_long, kind="stable")
    starts = np.empty_like(begins)
    starts[order] = lengths[order].cumsum() - lengths[order]
    short = order[: np.count_nonzero(~is_long)]
    from_where = np.repeat((begins - starts)[short], lengths[short])
    pieces = [slab[from_where + np.arange(from_where.size)]]
    ends = begins + lengths
    return pieces + [slab[begins[one] : ends[one]] for one in order[short.size :]], starts
