"""gaussian: a system of linear equations by Gaussian elimination."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK, SQUARE = 512, 4


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``matrix``: float32[n, n], diagonally dominant, and ``right``: float32[n]; so no pivot is needed."""
    n = size["n"]
    matrix = rng.random((n, n)) + n * np.eye(n)
    return {"matrix": matrix.astype(np.float32), "right": rng.random(n, dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches a column, and back substitution on the host; ``solution``: float32[n]."""
    n = size["n"]
    matrix, right = device.upload(inputs["matrix"]), device.upload(inputs["right"])
    multiplier = device.zeros((n, n), np.float32)
    square_grid = (blocks(n, SQUARE), blocks(n, SQUARE))
    for column in range(n - 1):
        device.launch("multipliers", blocks(n, BLOCK), BLOCK, multiplier, matrix, n, column)
        device.launch("eliminate", square_grid, (SQUARE, SQUARE), multiplier, matrix, right, n, n - column, column)
    return {"solution": _substitute_back(matrix.download(), right.download())}


def _substitute_back(matrix: Array, right: Array) -> Array:
    """The solution of an upper triangular system, from the last unknown to the first."""
    solution = np.zeros_like(right)
    for row in range(right.size - 1, -1, -1):
        known = np.dot(matrix[row, row + 1 :], solution[row + 1 :])
        solution[row] = (right[row] - known) / matrix[row, row]
    return solution


def reference(size: Size, inputs: Arrays) -> Arrays:
    """LAPACK's solution in float64."""
    solution = np.linalg.solve(inputs["matrix"].astype(np.float64), inputs["right"].astype(np.float64))
    return {"solution": solution.astype(np.float32)}


WORKLOAD = Workload(
    name="gaussian",
    title="Gaussian elimination",
    description=(
        "A system of linear equations by elimination, column by column, then substitution on the host. For each"
        " column one launch divides by the pivot, with blocks of 512 threads, and one subtracts multiples of the pivot"
        " row, with blocks of 4 x 4 threads: half a warp. Both cover the whole matrix, so ever more threads return at"
        " once. Kernels are little but index arithmetic, three loads and a store; nothing lives long."
    ),
    suite="rodinia",
    tags=("float", "memory", "several-launches", "partial-warps", "divergence"),
    papers=("corf", "bow", "regmutex", "rc-rsp"),
    originals=("rodinia/gaussian",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"n": 21}, "small": {"n": 208}, "full": {"n": 700}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The diagonal outweighs the rest of its row twofold, so the system is well conditioned, and errors of n roundings a
    # number stay a small multiple of 2^-24; solutions are of the order of 1 / n, and right sides below 1.
    tolerance=Tolerance(relative=1e-4, absolute=1e-8),
)
