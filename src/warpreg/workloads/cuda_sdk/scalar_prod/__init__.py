"""scalar-prod: scalar products of many pairs of vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

BLOCK = 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a`` and ``b``: float32[vectors, elements], uniform in [0, 1)."""
    return {name: rng.random((size["vectors"], size["elements"]), dtype=np.float32) for name in "ab"}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch of ``blocks`` blocks; ``products``: float32[vectors]."""
    a, b = device.upload(inputs["a"]), device.upload(inputs["b"])
    products = device.zeros(size["vectors"], np.float32)
    device.launch("scalar_prod", size["blocks"], BLOCK, products, a, b, size["vectors"], size["elements"])
    return {"products": products.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    products = np.einsum("ij,ij->i", inputs["a"], inputs["b"], dtype=np.float64)
    return {"products": products.astype(np.float32)}


WORKLOAD = Workload(
    name="scalar-prod",
    title="Scalar products",
    description=(
        "The scalar products of pairs of long vectors. A block of 256 threads takes every n-th pair, a warp runs of"
        " 128 elements of it. A lane adds products of two coalesced loads, in one pass for each of its four places in a"
        " run, then the block adds the threads' sums in shared memory, in a tree that takes four at a time, with a"
        " barrier at each level. Short loops whose counter and two addresses live through them, with a fused"
        " multiply-add that waits for two loads; the tree leaves ever more lanes idle."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "shared-memory", "barriers", "iterative"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"vectors": 7, "elements": 1500, "blocks": 3},
        "small": {"vectors": 2600, "elements": 4096, "blocks": 1300},
        "full": {"vectors": 4096, "elements": 16384, "blocks": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Positive terms, elements / 1024 of them in a row, then 3 + 8 additions: below 28 * 2^-24 = 1.7e-6.
    tolerance=Tolerance(relative=1.7e-6),
)
