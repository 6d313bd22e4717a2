"""2dconv: a 3 x 3 convolution of an image."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.polybench import BLOCK, grid, random_matrix
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

WEIGHTS = ((0.2, 0.5, -0.8), (-0.3, 0.6, -0.9), (0.4, 0.7, 0.1))
"""By row and column of the neighbour."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[ni, nj], uniform in [0, 1)."""
    return {"a": random_matrix(rng, size["ni"], size["nj"])}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``b``: float32[ni, nj], zero on its rim."""
    ni, nj = size["ni"], size["nj"]
    a, b = device.upload(inputs["a"]), device.zeros((ni, nj), np.float32)
    device.launch("convolution_2d", grid(ni, nj), BLOCK, ni, nj, a, b)
    return {"b": b.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Nine shifted images in float64, rounded once."""
    ni, nj = size["ni"], size["nj"]
    image = inputs["a"].astype(np.float64)
    result = np.zeros((ni, nj))
    for row, weights in enumerate(WEIGHTS):
        for col, weight in enumerate(weights):
            result[1:-1, 1:-1] += float(np.float32(weight)) * image[row : ni - 2 + row, col : nj - 2 + col]
    return {"b": result.astype(np.float32)}


WORKLOAD = Workload(
    name="2dconv",
    title="2D convolution",
    description=(
        "A 3 x 3 convolution with constant weights. A thread in a block of 32 x 8 computes one pixel from nine loads"
        " that share one address register, and stores it; no tile is kept. The weights are immediates of nine fused"
        " multiply-adds in a chain, so each loaded value and each partial sum is read once, right away or after the"
        " loads that are in flight."
    ),
    suite="polybench",
    tags=("float", "memory", "stencil"),
    originals=("polybench/2DCONV",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"ni": 37, "nj": 45},
        "small": {"ni": 1500, "nj": 1510},
        "full": {"ni": 4096, "nj": 4096},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Nine roundings of partial sums below 4.5, the sum of the weights' magnitudes: 9 * 4.5 * 2^-24 = 2.4e-6.
    tolerance=Tolerance(absolute=2.5e-6),
)
