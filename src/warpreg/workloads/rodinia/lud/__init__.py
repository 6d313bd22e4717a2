"""lud: LU decomposition without pivoting, tile by tile."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

TILE = 16


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``matrix``: float32[n, n], uniform in [0, 1) with n / 2 more on the diagonal, so that no pivot is small."""
    n = size["tiles"] * TILE
    matrix = rng.random((n, n), dtype=np.float32)
    matrix[np.diag_indices(n)] += np.float32(n / 2)
    return {"matrix": matrix}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Three launches for each step of 16 columns but the last, which is a single tile."""
    tiles = size["tiles"]
    matrix, n = device.upload(inputs["matrix"]), tiles * TILE
    for step in range(tiles):
        rest = tiles - step - 1
        arguments = (matrix, n, step * TILE)
        device.launch("factor_tile", 1, TILE, *arguments)
        if rest:
            device.launch("solve_strips", rest, 2 * TILE, *arguments)
            device.launch("subtract_product", (rest, rest), (TILE, TILE // 2), *arguments)
    both = matrix.download()
    return {"lower": np.tril(both, -1), "upper": np.triu(both)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Row by row in float64, with the rest of the matrix updated after every 64 rows."""
    m = inputs["matrix"].astype(np.float64)
    n, step = len(m), 64
    for first in range(0, n, step):
        end = min(first + step, n)
        for i in range(first, end):
            m[i + 1 :, i] /= m[i, i]
            m[i + 1 :, i + 1 : end] -= np.outer(m[i + 1 :, i], m[i, i + 1 : end])
            m[i + 1 : end, end:] -= np.outer(m[i + 1 : end, i], m[i, end:])
        m[end:, end:] -= m[end:, first:end] @ m[first:end, end:]
    return {"lower": np.tril(m, -1).astype(np.float32), "upper": np.triu(m).astype(np.float32)}


WORKLOAD = Workload(
    name="lud",
    title="LU decomposition",
    description=(
        "The decomposition of a dense matrix into triangular factors, in place and in steps of 16 columns. One block"
        " of 16 threads factors the diagonal tile, a column a thread in registers; the thread of the pivot's column"
        " passes its multipliers through shared memory, with a barrier a column and fewer and fewer threads at work."
        " Blocks of 32 threads, half of which own columns of U and half rows of L, in registers too, solve for the"
        " strips with the factored tile in shared memory; and 16 x 8 threads per tile subtract the product of two"
        " strips, 32 unrolled multiply-adds a thread for two cells. The first two are long chains in unrolled"
        " triangular loops, where the two halves of a warp diverge; the third is nearly all of the work."
    ),
    suite="rodinia",
    tags=(
        "float",
        "compute",
        "shared-memory",
        "barriers",
        "divergence",
        "partial-warps",
        "vector-loads",
        "several-launches",
    ),
    papers=("orf-lrf", "rc-rsp"),
    originals=("rodinia/lud",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"tiles": 5}, "small": {"tiles": 52}, "full": {"tiles": 128}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    # An element of U is about 1 and loses a sum of 16 products once a step: 128 + 16 roundings of 2^-24 are 8.6e-6.
    # An element of L is that over a pivot, n / 2 = 1024 at full size and 40 at tiny, after which 7 steps round.
    tolerance={
        "upper": Tolerance(absolute=8.6e-6, relative=8.6e-6),
        "lower": Tolerance(absolute=3e-8, relative=1e-5),
    },
)
