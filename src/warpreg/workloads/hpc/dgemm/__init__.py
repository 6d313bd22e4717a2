"""dgemm: the product of two matrices in double precision, tiled in registers and shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 64
THREADS = (16, 16)
ALPHA, BETA = -1.0, 1.0
"""The update of a matrix in LU factorisation."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float64[m, k], ``b``: float64[k, n], ``c``: float64[m, n], uniform in [0, 1)."""
    m, n, k = size["m"], size["n"], size["k"]
    return {"a": rng.random((m, k)), "b": rng.random((k, n)), "c": rng.random((m, n))}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch, one block for each 64 x 64 tile of ``c``: float64[m, n]."""
    m, n, k = size["m"], size["n"], size["k"]
    a, b, c = (device.upload(inputs[name]) for name in "abc")
    device.launch("dgemm", (blocks(n, TILE), blocks(m, TILE)), THREADS, a, b, c, m, n, k, ALPHA, BETA)
    return {"c": c.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's product."""
    return {"c": ALPHA * (inputs["a"] @ inputs["b"]) + BETA * inputs["c"]}


WORKLOAD = Workload(
    name="dgemm",
    title="Matrix multiplication in double precision",
    description=(
        "C = C - A B in double precision, as LU factorisation updates its trailing matrix. A block of 16 x 16 threads"
        " computes a 64 x 64 tile, each thread 4 x 4 elements 16 apart. Along k the block loads the next 64 x 16 and"
        " 16 x 64 elements to registers, runs 16 steps, unrolled by four, of eight shared loads and sixteen fused"
        " multiply-adds on the present ones, and stores the loaded ones to shared memory between two barriers. Sixteen"
        " 64-bit sums live through the loop, so that pressure is high; the eight operands of a step are read four"
        " times each. Structured as the kernels of MAGMA are. Small is an update of rank 32."
    ),
    suite="hpc",
    tags=("float", "compute", "f64", "shared-memory", "barriers"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small has 1,369 blocks, 350,464 threads.
    sizes={
        "tiny": {"m": 70, "n": 90, "k": 37},
        "small": {"m": 2310, "n": 2330, "k": 32},
        "full": {"m": 1500, "n": 1520, "k": 1030},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A chain of k positive products below 1 strays by less than k 2^-53 of its sum, at most k; so does NumPy's:
    # 2 * 1030^2 * 2^-53 = 2.4e-10.
    tolerance=Tolerance(absolute=2.4e-10),
)
