"""convolution-separable: an image convolved along rows, then along columns, through shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.ndimage import convolve1d

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

RADIUS = 8
ROW_BLOCK, ROW_AREA = 64, (128, 4)
COLUMN_BLOCK, COLUMN_AREA = (8, 16), (32, 32)
"""Threads of a block, and the width and height of the results that it computes: eight a thread."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[height, width] of whole numbers below 16, ``weights``: float32[17], likewise."""
    image = rng.integers(0, 16, (size["height"], size["width"])).astype(np.float32)
    return {"image": image, "weights": rng.integers(0, 16, 2 * RADIUS + 1).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` times the same two launches; ``image``: float32[height, width]."""
    width, height = size["width"], size["height"]
    device.assign("weights", inputs["weights"])
    image = device.upload(inputs["image"])
    halfway, result = (device.zeros((height, width), np.float32) for _ in range(2))
    row_grid = (width // ROW_AREA[0], height // ROW_AREA[1])
    column_grid = (width // COLUMN_AREA[0], height // COLUMN_AREA[1])
    for _ in range(size["rounds"]):
        device.launch("convolve_rows", row_grid, ROW_BLOCK, halfway, image, width)
        device.launch("convolve_columns", column_grid, COLUMN_BLOCK, result, halfway, width // 4, height)
    return {"image": result.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Two one-dimensional convolutions in float64."""
    result = inputs["image"].astype(np.float64)
    for axis in (1, 0):
        result = convolve1d(result, inputs["weights"].astype(np.float64), axis=axis, mode="constant")
    return {"image": result.astype(np.float32)}


WORKLOAD = Workload(
    name="convolution-separable",
    title="Separable convolution",
    description=(
        "A convolution with 17 weights along rows, then one along columns. A block copies a tile and its halo to"
        " shared memory as vectors of four: 64 threads one of 144 x 4 elements, or 128 threads one of 32 x 48. After a"
        " barrier each thread computes eight results of 17 fused multiply-adds each, completely unrolled, with weights"
        " from constant memory. The order is one tap after the other for all eight: of four rows and two distant"
        " columns along rows, of four adjacent columns and two distant rows along columns. Straight-line code with"
        " eight independent chains; nearly all values are read from shared memory once and used once."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "shared-memory", "constant-memory", "barriers", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 256, "height": 64, "rounds": 1},
        "small": {"width": 2048, "height": 1344, "rounds": 1},
        "full": {"width": 3072, "height": 3072, "rounds": 4},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # All terms are positive: 17 roundings each way, 35 * 2^-24. (Sums along rows are exact, whole numbers below 2^24.)
    tolerance=Tolerance(relative=2.1e-6),
)
