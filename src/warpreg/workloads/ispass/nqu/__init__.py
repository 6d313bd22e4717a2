"""nqu: the number of ways to place n queens on a board, by a search with bit masks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

BLOCK = 96


class Boards(NamedTuple):
    """Partial placements, each mask uint32[placements]: columns and diagonals that are taken in the next row."""

    columns: Array
    left: Array
    right: Array
    origin: Array


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``columns``, ``left`` and ``right``: uint32[placements], all ways to fill the host's rows, in random order.

    The first queen stays in one half of the board, whose sides are even: each board found has a mirror image besides.
    """
    n = size["n"]
    first = np.uint32(1) << np.arange(n // 2, dtype=np.uint32)
    boards = Boards(first, first << np.uint32(1), first >> np.uint32(1), np.arange(first.size))
    for _ in range(size["host_rows"] - 1):
        boards = _next_row(boards, n)
    order = rng.permutation(boards.columns.size)
    return {"columns": boards.columns[order], "left": boards.left[order], "right": boards.right[order]}


def _next_row(boards: Boards, n: int) -> Boards:
    """All ways to place one more queen."""
    taken = boards.columns | boards.left | boards.right
    rows = []
    for column in range(n):
        queen = np.uint32(1 << column)
        free = np.flatnonzero((taken & queen) == 0)
        columns, left, right, origin = (mask[free] for mask in boards)
        rows.append(Boards(columns | queen, (left | queen) << np.uint32(1), (right | queen) >> np.uint32(1), origin))
    return Boards(*(np.concatenate(masks) for masks in zip(*rows, strict=True)))


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``block_sums``: uint32[blocks], completed placements of each block, before mirroring."""
    count = inputs["columns"].size
    masks = [device.upload(inputs[name]) for name in ("columns", "left", "right")]
    sums = device.zeros(blocks(count, BLOCK), np.uint32)
    rows = size["n"] - size["host_rows"]
    device.launch("solve", blocks(count, BLOCK), BLOCK, size["n"], rows, *masks, sums, count)
    found = sums.download()
    return {"block_sums": found, "solutions": np.array(2 * int(found.sum()))}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All partial placements row by row at once."""
    n = size["n"]
    count = inputs["columns"].size
    boards = Boards(inputs["columns"], inputs["left"], inputs["right"], np.arange(count))
    for _ in range(n - size["host_rows"]):
        boards = _next_row(boards, n)
    sums = np.bincount(boards.origin // BLOCK, minlength=blocks(count, BLOCK)).astype(np.uint32)
    return {"block_sums": sums, "solutions": np.array(KNOWN[n])}


KNOWN = {6: 4, 8: 92, 10: 724, 12: 14_200, 14: 365_596}
"""Solutions of boards of each even side (OEIS A000170)."""


WORKLOAD = Workload(
    name="nqu",
    title="N queens",
    description=(
        "Counts the placements of n queens on a board. The host fills the first rows in all ways, one half of the"
        " board's mirror images; each thread of a block of 96 completes one placement row by row with bit masks of"
        " taken columns and diagonals. Its stack of up to ten rows lies in shared memory, so the search loop is loads,"
        " a few logic operations and stores, and every step may branch three ways: warps diverge until the last thread"
        " is done. The block's counts are added in a tree. Very few registers, and short lives."
    ),
    suite="ispass",
    tags=("integer", "compute", "divergence", "shared-memory", "barriers", "partial-warps"),
    originals=("ispass/NQU",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small is a smaller board than the default of full: 26,428 threads, a tenth of two waves.
    sizes={
        "tiny": {"n": 8, "host_rows": 3},
        "small": {"n": 12, "host_rows": 6},
        "full": {"n": 14, "host_rows": 5},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
