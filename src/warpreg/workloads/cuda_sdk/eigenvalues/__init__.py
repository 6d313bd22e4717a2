"""eigenvalues: bisection for the eigenvalues of a small and a large symmetric tridiagonal matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

SMALL_THREADS, LARGE_THREADS = 512, 256
PRECISION = 1e-5
MARGIN = 1e-6
"""Of the matrix's norm: what the first interval is wider than it must be."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """Diagonals and superdiagonals of both matrices: float32[n] in [-0.5, 0.5), the first superdiagonal element 0."""
    inputs: dict[str, Array] = {}
    for name in ("small", "large"):
        diagonal, beside = rng.random((2, size[name]), dtype=np.float32) - np.float32(0.5)
        beside[0] = 0
        inputs |= {f"{name}_diagonal": diagonal, f"{name}_beside": beside}
    return inputs


def bounds(diagonal: Array, beside: Array) -> tuple[float, float]:
    """All eigenvalues lie between them (Gershgorin's circles)."""
    radius = np.abs(beside) + np.abs(np.append(beside[1:], 0))
    lowest, highest = float(np.min(diagonal - radius)), float(np.max(diagonal + radius))
    margin = MARGIN * max(abs(lowest), abs(highest))
    return lowest - margin, highest + margin


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``small`` and ``large``, the eigenvalues in ascending order: float32[n].

    One block for the small matrix; for the large one a block, then a thread or a share of a block an eigenvalue: there
    are few threads.
    """
    small, large = ((inputs[f"{name}_diagonal"], inputs[f"{name}_beside"]) for name in ("small", "large"))
    return {"small": _small(device, *small), "large": _large(device, *large)}


def _small(device: Device, diagonal: Array, beside: Array) -> Array:
    n = len(diagonal)
    matrix = device.upload(diagonal), device.upload(beside), n
    found, counts = device.zeros(n, np.float32), device.zeros(n, np.uint32)
    device.launch("bisect_small", 1, SMALL_THREADS, *matrix, *bounds(diagonal, beside), PRECISION, found, counts)
    return _placed(n, (found.download(), counts.download()))


def _large(device: Device, diagonal: Array, beside: Array) -> Array:
    n = len(diagonal)
    matrix = device.upload(diagonal), device.upload(beside), n
    left_one, right_one, left_several, right_several = (device.zeros(2 * LARGE_THREADS, np.float32) for _ in range(4))
    count_one, *counts = (device.zeros(2 * LARGE_THREADS, np.uint32) for _ in range(3))
    block_starts, block_counts = (device.zeros(2 * LARGE_THREADS + 2, np.uint32) for _ in range(2))
    sizes = device.zeros(4, np.uint32)
    one, several = (left_one, right_one, count_one), (left_several, right_several, *counts)
    numbers = *bounds(diagonal, beside), PRECISION
    device.launch(
        "bisect_large", 1, LARGE_THREADS, *matrix, *numbers, *one, *several, block_starts, block_counts, sizes
    )
    ones, _, count, eigenvalues = (int(length) for length in sizes.download())

    parts = []
    if ones:
        grid = blocks(ones, LARGE_THREADS)
        device.launch("bisect_one", grid, LARGE_THREADS, *matrix, ones, *one, PRECISION)
        parts.append((left_one.download()[:ones], count_one.download()[:ones]))
    if eigenvalues:
        found: tuple[Buffer, Buffer] = device.zeros(eigenvalues, np.float32), device.zeros(eigenvalues, np.uint32)
        arguments = *matrix, block_starts, block_counts, *several, *found, PRECISION
        device.launch("bisect_several", count, LARGE_THREADS, *arguments)
        parts.append((found[0].download(), found[1].download()))
    return _placed(n, *parts)


def _placed(n: int, *parts: tuple[Array, Array]) -> Array:
    """Eigenvalues at the places that their counts say; NaN where there is none."""
    eigenvalues = np.full(n, np.nan, np.float32)
    for values, places in parts:
        eigenvalues[places] = values
    return eigenvalues


def reference(size: Size, inputs: Arrays) -> Arrays:
    """LAPACK's in float64, through SciPy."""
    from scipy.linalg import eigvalsh_tridiagonal

    found = {}
    for name in ("small", "large"):
        diagonal, beside = (inputs[f"{name}_{part}"].astype(np.float64) for part in ("diagonal", "beside"))
        found[name] = eigvalsh_tridiagonal(diagonal, beside[1:]).astype(np.float32)
    return found


WORKLOAD = Workload(
    name="eigenvalues",
    title="Eigenvalues by bisection",
    description=(
        "All eigenvalues of a small and of a large symmetric tridiagonal matrix. As in the SDK's sample a block keeps"
        " intervals in shared memory, a thread each; every round all threads stage the matrix through shared memory"
        " and count the eigenvalues below their middle by a chain of divisions, then halves without eigenvalues are"
        " dropped and second halves are compacted by a scan. For the large matrix a first kernel stops at as many"
        " intervals as threads; one kernel goes on with those of one eigenvalue, a thread each, one with those of"
        " several, a block a group. The time goes into a loop of two loads, a division and a few operations on four"
        " values; a dozen others, the interval's, live across it. Rounds end late for a few threads, others wait at"
        " barriers."
    ),
    suite="cuda-sdk",
    tags=(
        "float",
        "compute",
        "shared-memory",
        "barriers",
        "divergence",
        "partial-warps",
        "iterative",
        "several-launches",
    ),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # A thread an interval at most: 2,048 eigenvalues are the sample's own.
    sizes={
        "tiny": {"small": 45, "large": 420},
        "small": {"small": 256, "large": 1024},
        "full": {"small": 512, "large": 4096},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Intervals end at 1e-5 of their place, and a count in single precision is that of a matrix whose elements differ by
    # a few 2^-24 from the given one's, whose norm is below 1.5: 1.5 * 4 * 2^-24 = 3.6e-7.
    tolerance=Tolerance(relative=1e-5, absolute=4e-7),
)
