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
    extents = tuple(size[name] for name in ("ni", "nj", "nk", "nl", "nm"))
    ni, nj, _, nl, _ = extents
    a, b, c, d = (device.upload(inputs[name]) for name in "abcd")
    e, f, g = (device.zeros(shape, np.float32) for shape in ((ni, nj), (nj, nl), (ni, nl)))
    device.launch("first_product", grid(ni, nj), BLOCK, *extents, a, b, e)
    device.launch("second_product", grid(nj, nl), BLOCK, *extents, c, d, f)
    device.launch("third_product", grid(ni, nl), BLOCK, *extents, e, f, g)
    return {"g": g.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    a, b, c, d = (inputs[name].astype(np.float64) for name in "abcd")
    return {"g": ((a @ b) @ (c @ d)).astype(np.float32)}


WORKLOAD = Workload(
    name="3mm",
    title="Three matrix products",
    description=(
        "G = (A B)(C D) in single precision, in three launches of three like kernels. A thread in a block of 32 x 8"
        " computes one element; each step of its loop, unrolled four times by the compiler, loads one element of"
        " either factor and adds their product to the sum in memory, which might overlap the factors. Pointers and the"
        " loop counter live long; every other value is read once."
    ),
    suite="polybench",
    tags=("float", "memory", "iterative", "several-launches"),
    papers=("larf",),
    originals=("polybench/3MM",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"ni": 35, "nj": 25, "nk": 29, "nl": 33, "nm": 31},
        "small": {"ni": 2300, "nj": 48, "nk": 45, "nl": 150, "nm": 70},
        "full": {"ni": 512, "nj": 512, "nk": 512, "nl": 512, "nm": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Every path from an input to G passes two sums of positive terms: below (max(nk, nm) + nj + 4) 2^-24 for each
    # factor of the last product, so below (nk + nm + nj + 6) 2^-24, 9.2e-5 at 512 each.
    tolerance=Tolerance(relative=9.5e-5),
)
