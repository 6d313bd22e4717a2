"""matrix-mul: the product of two matrices through tiles in shared memory, bound by arithmetic and shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 32


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[m, k] and ``b``: float32[k, n], uniform in [0, 1)."""
    m, n, k = size["m"], size["n"], size["k"]
    return {"a": rng.random((m, k), dtype=np.float32), "b": rng.random((k, n), dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch, one block for each 32 x 32 tile of ``c``: float32[m, n]."""
    m, n, k = size["m"], size["n"], size["k"]
    a, b, c = device.upload(inputs["a"]), device.upload(inputs["b"]), device.zeros((m, n), np.float32)
    device.launch("matrix_mul", (blocks(n, TILE), blocks(m, TILE)), (TILE, TILE), a, b, c, m, n, k)
    return {"c": c.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The product in float64, rounded once."""
    product = inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)
    return {"c": product.astype(np.float32)}


WORKLOAD = Workload(
    name="matrix-mul",
    title="Tiled matrix multiplication",
    description=(
        "C = A B in single precision, matrices of any shape. A block of 32 x 32 threads computes one tile of C. Along"
        " k it copies a tile of A and one of B to shared memory, guarded at the ragged edges, and after a barrier each"
        " thread runs 32 unrolled steps of two shared loads and one fused multiply-add. The accumulator and the two"
        " tile pointers live long, everything else is read once, right after it is written."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "shared-memory", "barriers"),
    papers=("orf-lrf", "larf", "tfet"),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"m": 40, "n": 50, "k": 70},
        "small": {"m": 600, "n": 610, "k": 410},
        "full": {"m": 1200, "n": 1210, "k": 1220},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # k positive products summed one after another: the error is below k * 2^-24 of the sum, 7.3e-5 at k = 1220.
    tolerance=Tolerance(relative=1e-4),
)
