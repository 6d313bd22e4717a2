"""scalar-prod-unrolled: scalar products of many pairs of vectors, with the loads of four sums in front."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.scalar_prod import BLOCK, make_inputs, reference
from warpreg.workloads.cuda_sdk.scalar_prod import WORKLOAD as LOOP
from warpreg.workloads.workload import Arrays, Device, Size, Workload


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch of ``blocks`` blocks; ``products``: float32[vectors]."""
    a, b = device.upload(inputs["a"]), device.upload(inputs["b"])
    products = device.zeros(size["vectors"], np.float32)
    device.launch("scalar_prod_unrolled", size["blocks"], BLOCK, products, a, b, size["vectors"], size["elements"])
    return {"products": products.download()}


WORKLOAD = Workload(
    name="scalar-prod-unrolled",
    title="Scalar products, loads first",
    description=(
        "`scalar-prod` with a lane's four sums taken at once: the eight loads of a run of 128 elements go first, so"
        " that the warp waits once for all of them, and four fused multiply-adds follow. The remedy that the paper on"
        " the compiler-managed hierarchy names for such loops; the products are the same, to the bit."
    ),
    suite="cuda-sdk",
    tags=LOOP.tags,
    source=Path(__file__).with_name("kernel.cu"),
    sizes=LOOP.sizes,
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance=LOOP.tolerance,
)
