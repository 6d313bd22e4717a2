"""3mm: three matrix products, G = (A B)(C D), without tiling."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.polybench import BLOCK, grid, random_matrix
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[ni, nk], ``b``: float32[nk, nj], ``c``: float32[nj, nm], ``d``: float32[nm, nl], in [0, 1)."""
    ni, nj, nk, nl, nm = (size[name] for name in ("ni", "nj", "nk", "nl", "nm"))
    shapes = {"a": (ni, nk), "b": (nk, nj), "c": (nj, nm), "d": (nm, nl)}
    return {name: random_matrix(rng, *shape) for name, shape in shapes.items()}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Three launches; ``g``: float32[ni, nl]."""
    ni, nj, nk, nl, nm = (size[name] for name in ("ni", "nj", "nk", "nl", "nm"))
    a, b, c, d = (device.upload(inputs[name]) for name in "abcd")
    e, f, g = (device.zeros(shape, np.float32) for shape in ((ni, nj), (nj, nl), (ni, nl)))
    device.launch("multiply", grid(ni, nj), BLOCK, e, a, b, ni, nk, nj)
    device.launch("multiply", grid(nj, nl), BLOCK, f, c, d, nj, nm, nl)
    device.launch("multiply", grid(ni, nl), BLOCK, g, e, f, ni, nj, nl)
    return {"g": g.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    a, b, c, d = (inputs[name].astype(np.float64) for name in "abcd")
    return {"g": ((a @ b) @ (c @ d)).astype(np.float32)}


WORKLOAD = Workload(
    name="3mm",
    title="Three matrix products",
    description=(
        "G = (A B)(C D) in single precision, in three launches of one kernel. A thread in a block of 32 x 8 computes"
        " one element of a product and adds one term after the other to it in memory; the compiler unrolls the loop"
        " four times. Pointers and the loop counter live long; every other value is read once."
    ),
    suite="polybench",
    tags=("float", "memory", "iterative", "several-launches"),
    papers=("larf",),
    originals=("polybench/3MM",),
    differences="The namesake has three kernels that are alike; here one is launched three times.",
    source=Path(__file__).with_name("kernel.cu"),
    # The rows of small make two full waves of the first and the last launch on 28 SMs of 2,048 threads.
    sizes={
        "tiny": {"ni": 35, "nj": 25, "nk": 29, "nl": 33, "nm": 31},
        "small": {"ni": 896, "nj": 128, "nk": 128, "nl": 128, "nm": 128},
        "full": {"ni": 512, "nj": 512, "nk": 512, "nl": 512, "nm": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Every path from an input to G passes two sums of positive terms, with two roundings for a term and one for each
    # that is added after it: below (nk + nm + nj + 6) 2^-24 for both factors and the last product, 9.2e-5 at 512 each.
    tolerance=Tolerance(relative=9.5e-5),
)
