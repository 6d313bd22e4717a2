"""gemm: C = alpha A B + beta C without tiling."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.polybench import random_matrix
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 256
ALPHA, BETA = np.float32(1.5), np.float32(1.2)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[ni, nk], ``b``: float32[nk, nj], ``c``: float32[ni, nj], uniform in [0, 1)."""
    ni, nj, nk = size["ni"], size["nj"], size["nk"]
    return {"a": random_matrix(rng, ni, nk), "b": random_matrix(rng, nk, nj), "c": random_matrix(rng, ni, nj)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``c``: float32[ni, nj]."""
    ni, nj, nk = size["ni"], size["nj"], size["nk"]
    a, b, c = (device.upload(inputs[name]) for name in "abc")
    device.launch("gemm", blocks(ni * nj, BLOCK), BLOCK, ALPHA, a, b, BETA, c, ni, nj, nk)
    return {"c": c.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {"c": (float(ALPHA) * (a @ b) + float(BETA) * c).astype(np.float32)}


WORKLOAD = Workload(
    name="gemm",
    title="Matrix product without tiling",
    description=(
        "C = alpha A B + beta C in single precision. A thread in a block of 256 computes one element of C, which are"
        " numbered row after row: in each step of its loop it loads four elements of A, nearly always the same for the"
        " whole warp, and four of B, and adds their scaled sum of products to the element of C in memory. Pointers live"
        " long; every loaded and computed value is read once."
    ),
    suite="polybench",
    tags=("float", "memory", "iterative"),
    originals=("polybench/GEMM",),
    differences=(
        "The namesake adds one product at a time to the element in memory and has blocks of 32 x 8; here four products"
        " are summed first, and elements are numbered row after row."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"ni": 35, "nj": 45, "nk": 29},
        "small": {"ni": 576, "nj": 580, "nk": 67},
        "full": {"ni": 512, "nj": 512, "nk": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Positive terms: a product passes four roundings in its sum of four, one for each sum added after it (up to three
    # more for the products that four leave over), and beta one: below (nk / 4 + 10) 2^-24, 8.3e-6 at nk = 512.
    tolerance=Tolerance(relative=8.5e-6),
)
