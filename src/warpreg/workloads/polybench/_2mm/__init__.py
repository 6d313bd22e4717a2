"""2mm: two matrix products in a row, D = alpha A B C + beta D, without tiling."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.polybench import BLOCK, grid, random_matrix
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

ALPHA, BETA = np.float32(1.5), np.float32(1.2)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[ni, nk], ``b``: float32[nk, nj], ``c``: float32[nj, nl], ``d``: float32[ni, nl], in [0, 1)."""
    ni, nj, nk, nl = size["ni"], size["nj"], size["nk"], size["nl"]
    shapes = {"a": (ni, nk), "b": (nk, nj), "c": (nj, nl), "d": (ni, nl)}
    return {name: random_matrix(rng, *shape) for name, shape in shapes.items()}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; ``product``: float32[ni, nj] and ``d``: float32[ni, nl]."""
    ni, nj, nk, nl = size["ni"], size["nj"], size["nk"], size["nl"]
    a, b, c, d = (device.upload(inputs[name]) for name in "abcd")
    product = device.zeros((ni, nj), np.float32)
    device.launch("multiply", grid(ni, nj), BLOCK, ALPHA, a, b, product, ni, nj, nk)
    device.launch("multiply_and_add", grid(ni, nl), BLOCK, BETA, product, c, d, ni, nj, nl)
    return {"product": product.download(), "d": d.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    a, b, c, d = (inputs[name].astype(np.float64) for name in "abcd")
    product = float(ALPHA) * (a @ b)
    return {"product": product.astype(np.float32), "d": (product @ c + float(BETA) * d).astype(np.float32)}


WORKLOAD = Workload(
    name="2mm",
    title="Two matrix products",
    description=(
        "D = alpha A B C + beta D in single precision, through the stored product of A and B, in two launches. A"
        " thread in a block of 32 x 8 computes one element of a result and adds one product after the other to it in"
        " memory; the compiler unrolls the loop four times. Pointers and the loop counter live long; every other value"
        " is read once."
    ),
    suite="polybench",
    tags=("float", "memory", "iterative", "several-launches"),
    papers=("larf",),
    originals=("polybench/2MM",),
    source=Path(__file__).with_name("kernel.cu"),
    # The rows of small make two full waves on 28 SMs of 2,048 threads.
    sizes={
        "tiny": {"ni": 35, "nj": 45, "nk": 29, "nl": 33},
        "small": {"ni": 896, "nj": 128, "nk": 128, "nl": 128},
        "full": {"ni": 1024, "nj": 1024, "nk": 1024, "nl": 1024},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Two sums of positive terms one after the other; a product passes three roundings and one for each product that is
    # added after it: below (nk + nj + 6) 2^-24, 1.23e-4 at 1024 each.
    tolerance=Tolerance(relative=1.25e-4),
)
