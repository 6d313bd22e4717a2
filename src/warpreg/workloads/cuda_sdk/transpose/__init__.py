"""transpose: a matrix transposed in several ways, from the plainest to conflict-free tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

TILE, ROWS = 32, 8
COPIES = ("copy", "copy_shared")
TRANSPOSITIONS = (
    "transpose_naive",
    "transpose_coalesced",
    "transpose_without_conflicts",
    "transpose_diagonal",
)
WITHIN_TILES = "transpose_fine_grained"


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``matrix``: float32[height, width], uniform in [0, 1)."""
    return {"matrix": rng.random((size["height"], size["width"]), dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch of each kernel; the one within tiles takes the whole tiles at the upper left as its matrix."""
    width, height = size["width"], size["height"]
    matrix = device.upload(inputs["matrix"])
    grid = (blocks(width, TILE), blocks(height, TILE))
    results = {}
    for kernel in COPIES + TRANSPOSITIONS:
        out = device.zeros((height, width) if kernel in COPIES else (width, height), np.float32)
        device.launch(kernel, grid, (TILE, ROWS), out, matrix, width, height)
        results[kernel] = out.download()
    whole = _whole_tiles(inputs["matrix"])
    tiles, out = device.upload(whole), device.zeros(whole.shape, np.float32)
    rows, cols = whole.shape
    device.launch(WITHIN_TILES, (cols // TILE, rows // TILE), (TILE, ROWS), out, tiles, cols, rows)
    return results | {WITHIN_TILES: out.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's transposition: exact, since nothing is computed."""
    matrix = inputs["matrix"]
    results = dict.fromkeys(COPIES, matrix)
    results |= {kernel: np.ascontiguousarray(matrix.T) for kernel in TRANSPOSITIONS}
    whole = _whole_tiles(matrix)
    rows, cols = whole.shape
    tiles = whole.reshape(rows // TILE, TILE, cols // TILE, TILE)
    return results | {WITHIN_TILES: np.ascontiguousarray(tiles.transpose(0, 3, 2, 1)).reshape(rows, cols)}


def _whole_tiles(matrix: Array) -> Array:
    rows, cols = (extent // TILE * TILE for extent in matrix.shape)
    return np.ascontiguousarray(matrix[:rows, :cols])


WORKLOAD = Workload(
    name="transpose",
    title="Matrix transposition",
    description=(
        "A matrix of floats, copied and transposed by seven kernels in turn: copies without and with shared memory,"
        " transpositions straight through memory, through a tile with bank conflicts, through a padded tile, with"
        " blocks renumbered along diagonals, and within tiles only. A block of 32 x 8 threads moves a tile of 32 x 32,"
        " four rows a thread in an unrolled loop. Nothing but addresses is computed: few registers, loaded values read"
        " once."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "several-launches"),
    papers=("tfet",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 75, "height": 41},
        "small": {"width": 1210, "height": 1150},
        "full": {"width": 4096, "height": 4000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
