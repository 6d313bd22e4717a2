"""Load more thread blocks into the core during a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpreg.timing.core.columns import clock, machine, ops, warps
from warpreg.timing.core.columns.typed import Array, OpRow, array_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.whole_columns import WholeColumns, warps_of
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.launch.widths import records_with_widths


def more_blocks(core: Core, batches: Sequence[ThreadBlocks], operations: Sequence[tuple[int, int]]) -> Core:
    """Append the thread blocks of ``batches`` to those that wait for dispatch; keep the data of resident warps.

    ``operations``: the rows of those that may be in use, first ones and those after the last ones.
    """
    pieces: list[Array] = []
    size = _keep_resident(core, pieces, operations)
    starts = []
    for begins, visits, accesses in (_waiting(core), *map(_of_batch, batches)):
        starts.append(begins + np.array([size, size, size + visits.size, size + visits.size], np.int64))
        pieces += [visits, accesses]
        size += visits.size + accesses.size
    core.clock[clock.FIRST_LOADED] = core.clock[clock.NEXT_BLOCK]
    core.clock[clock.LOADED_BLOCKS] += sum(batch.count for batch in batches)
    core.clock[clock.STARTS] = size
    return core._replace(slab=np.concatenate((*pieces, *(one.reshape(-1) for one in starts))))


def _of_batch(batch: ThreadBlocks) -> tuple[Array, Array, Array]:
    """Start and end of each warp's visits and records, int64[warps, 4]; then the visits and the records."""
    start, accesses = records_with_widths(batch)
    begins = (batch.visit_start[:-1], batch.visit_start[1:], start[:-1], start[1:])
    return np.stack(begins, axis=1), batch.visits, accesses


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


def _keep_resident(core: Core, pieces: list[Array], operations: Sequence[tuple[int, int]]) -> int:
    """Keep the remaining visits and records of resident warps, records in flight included; returns their size."""
    width = core.machine[machine.ROW]
    table = array_of(core.table)
    slots = warps_of(table, core.machine)
    present = np.flatnonzero(slots[warps.PRESENT])
    ranges = ((warps.VISIT, warps.VISIT_END), (warps.RECORDS, warps.RECORDS_END))
    first = np.stack([slots[begin][present] for begin, _ in ranges], axis=1)
    lengths = np.stack([slots[end][present] for _, end in ranges], axis=1) - first
    size = int(lengths.sum())
    further = (lengths.cumsum() - lengths.reshape(-1)).reshape(-1, 2) - first
    pieces.append(core.slab[np.arange(size) - np.repeat(further.reshape(-1), lengths.reshape(-1))])
    for column in (warps.VISIT, warps.VISIT_END):
        slots[column][present] += further[:, 0]
    for column in (warps.ACCESS, warps.RECORDS, warps.RECORDS_END):
        slots[column][present] += further[:, 1]
    moved = np.zeros(len(slots.rows), np.int64)
    moved[present] = further[:, 1]
    for begin, end in operations:
        taken = WholeColumns[OpRow](table[begin:end])
        by = moved[taken[ops.WARP] // width - core.machine[machine.FIRST_WARP]]
        for column_of_op in (ops.RECORD, ops.CURSOR):
            taken[column_of_op] += np.where((taken[ops.PC] >= 0) & (taken[column_of_op] >= 0), by, 0)
    return size
