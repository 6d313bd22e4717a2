"""3dconv: a 3 x 3 x 3 convolution of a volume, plane by plane."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.polybench import BLOCK, grid, random_matrix
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

TERMS = (
    (-1, -1, -1, 2), (1, -1, -1, 4), (-1, -1, 0, 5), (1, -1, 0, 7), (-1, -1, 1, -8), (1, -1, 1, 10),
    (0, 0, -1, -3), (0, 0, 0, 6), (0, 0, 1, -9),
    (-1, 1, -1, 2), (1, 1, -1, 4), (-1, 1, 0, 5), (1, 1, 0, 7), (-1, 1, 1, -8), (1, 1, 1, 10),
)  # fmt: skip
"""Offsets of a neighbour along the three axes, and its weight."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[ni, nj, nk], uniform in [0, 1)."""
    return {"a": random_matrix(rng, size["ni"], size["nj"], size["nk"])}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch for each inner plane; ``b``: float32[ni, nj, nk], zero on its rim."""
    ni, nj, nk = size["ni"], size["nj"], size["nk"]
    a, b = device.upload(inputs["a"]), device.zeros((ni, nj, nk), np.float32)
    for i in range(1, ni - 1):
        device.launch("convolution_3d", grid(nj, nk), BLOCK, ni, nj, nk, a, b, i)
    return {"b": b.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Fifteen shifted volumes in float64, rounded once."""
    ni, nj, nk = size["ni"], size["nj"], size["nk"]
    volume = inputs["a"].astype(np.float64)
    result = np.zeros((ni, nj, nk))
    for di, dj, dk, weight in TERMS:
        shifted = volume[1 + di : ni - 1 + di, 1 + dj : nj - 1 + dj, 1 + dk : nk - 1 + dk]
        result[1:-1, 1:-1, 1:-1] += weight * shifted
    return {"b": result.astype(np.float32)}


WORKLOAD = Workload(
    name="3dconv",
    title="3D convolution",
    description=(
        "A 3 x 3 x 3 convolution with fifteen constant weights, one launch per plane of the volume. A thread in a"
        " block of 32 x 8 computes one voxel from fifteen loads, a chain of fused multiply-adds with immediate"
        " weights, and a store. The loads need five address registers and are all in flight before the chain starts."
    ),
    suite="polybench",
    tags=("float", "memory", "stencil", "several-launches"),
    papers=("larf",),
    originals=("polybench/3DCONV",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"ni": 7, "nj": 19, "nk": 37},
        "small": {"ni": 12, "nj": 580, "nk": 580},
        "full": {"ni": 256, "nj": 256, "nk": 256},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Fifteen roundings of partial sums below 90, the sum of the weights' magnitudes: 15 * 90 * 2^-24 = 8.1e-5.
    tolerance=Tolerance(absolute=8.2e-5),
)
