"""nw: global alignment of two sequences by dynamic programming over anti-diagonals of tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

TILE = 16
PENALTY = 10
LETTERS = 20


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``similarity``: int32[rows, cols], the score of pairing letter ``row`` of one sequence with ``col`` of the other.

    Two random sequences over 20 letters and one random symmetric table: 4 to 11 for equal letters, -4 to 3 for others.
    """
    table = rng.integers(-4, 4, (LETTERS, LETTERS), dtype=np.int32)
    table = np.triu(table, 1) + np.triu(table, 1).T + np.diag(rng.integers(4, 12, LETTERS, dtype=np.int32))
    down = rng.integers(0, LETTERS, size["rows"])
    across = rng.integers(0, LETTERS, size["cols"])
    return {"similarity": table[:, across][down].astype(np.int32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch per anti-diagonal of tiles; ``scores``: int32[rows + 1, cols + 1]."""
    rows, cols = size["rows"], size["cols"]
    tile_rows, tile_cols = blocks(rows, TILE), blocks(cols, TILE)
    similarity, scores = device.upload(inputs["similarity"]), device.upload(_gaps_only(rows, cols))
    arguments = (similarity, scores, rows, cols, PENALTY)
    for front in range(tile_cols):
        device.launch("needleman_wunsch_growing", min(front + 1, tile_rows), TILE, *arguments, front)
    for front in range(tile_cols, tile_rows + tile_cols - 1):
        first = front - tile_cols + 1
        count = min(tile_cols, tile_rows - first)
        device.launch("needleman_wunsch_shrinking", count, TILE, *arguments, front, first)
    return {"scores": scores.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Row by row: a running maximum replaces the dependence of a cell on its left neighbour.

    A cell is reached by a run of gaps from a cell of its row that was entered from above: with
    ``entered[j] = max(up[j] - penalty, diagonal + match)``, the score of cell ``j`` is the maximum over ``i <= j`` of
    ``entered[i] - penalty * (j - i)``.
    """
    scores = _gaps_only(size["rows"], size["cols"])
    slope = PENALTY * np.arange(size["cols"] + 1, dtype=np.int32)
    for row, match in enumerate(inputs["similarity"], start=1):
        above, entered = scores[row - 1], scores[row].copy()
        entered[1:] = np.maximum(above[1:] - PENALTY, above[:-1] + match)
        scores[row] = np.maximum.accumulate(entered + slope) - slope
    return {"scores": scores}


def _gaps_only(rows: int, cols: int) -> Array:
    """A score matrix with only row 0 and column 0 filled in: one penalty more per letter."""
    scores = np.zeros((rows + 1, cols + 1), dtype=np.int32)
    scores[0] = -PENALTY * np.arange(cols + 1)
    scores[:, 0] = -PENALTY * np.arange(rows + 1)
    return scores


WORKLOAD = Workload(
    name="nw",
    title="Needleman-Wunsch sequence alignment",
    description=(
        "The score matrix of the best global alignment of two sequences with a linear gap penalty. The matrix is cut"
        " into 16 x 16 tiles; one launch handles one anti-diagonal of tiles, a first kernel while they grow, a second"
        " one while they shrink. A block is 16 threads, half a warp. It loads its tile and the edges of three"
        " neighbours into shared memory, then a wavefront of 1, 2, .. 16, .. 2, 1 threads crosses the tile, with a"
        " barrier after each step. Integer maxima, short values, half or more of the lanes idle throughout."
    ),
    suite="rodinia",
    tags=("integer", "memory", "shared-memory", "barriers", "divergence", "partial-warps", "several-launches"),
    papers=("orf-lrf", "bow", "tfet"),
    originals=("rodinia/nw",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 70, "cols": 101},
        "small": {"rows": 2590, "cols": 2610},
        "full": {"rows": 7000, "cols": 7010},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
