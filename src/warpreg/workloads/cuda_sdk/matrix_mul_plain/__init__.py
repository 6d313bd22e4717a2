"""matrix-mul-plain: the product of two matrices straight from global memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[m, k] and ``b``: float32[k, n], uniform in [0, 1)."""
    m, n, k = size["m"], size["n"], size["k"]
    return {"a": rng.random((m, k), dtype=np.float32), "b": rng.random((k, n), dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch, one block for each ``height`` x ``width`` elements of ``c``: float32[m, n]."""
    m, n, k, width, height = (size[name] for name in ("m", "n", "k", "width", "height"))
    a, b, c = device.upload(inputs["a"]), device.upload(inputs["b"]), device.zeros((m, n), np.float32)
    device.launch("matrix_mul_plain", (blocks(n, width), blocks(m, height)), (width, height), c, a, b, m, k, n)
    return {"c": c.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The product in float64, rounded once."""
    product = inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)
    return {"c": product.astype(np.float32)}


WORKLOAD = Workload(
    name="matrix-mul-plain",
    title="Plain matrix multiplication",
    description=(
        "C = A B in single precision without any optimization: no shared memory, one sum, no unrolled loop. A thread in"
        " a block of 32 x 8 computes one element. In each step a warp reads one element of A and 32 neighbouring ones"
        " of B, and waits for both; threads beyond an edge read what the last ones do and store nothing. The sum, two"
        " addresses and a counter live through the loop; loaded values are read once."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "iterative"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"m": 40, "n": 50, "k": 33, "width": 32, "height": 8},
        "small": {"m": 600, "n": 610, "k": 75, "width": 32, "height": 8},
        "full": {"m": 800, "n": 810, "k": 800, "width": 32, "height": 8},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A sum of k positive products, one rounding each: the error is below k 2^-24 of the sum, 4.8e-5 at k = 800.
    tolerance=Tolerance(relative=5e-5),
)
