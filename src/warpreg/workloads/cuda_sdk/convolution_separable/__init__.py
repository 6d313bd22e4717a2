"""convolution-separable: an image convolved along rows, then along columns, through shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.ndimage import convolve1d

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

RADIUS = 8
ROW_BLOCK, COLUMN_BLOCK = (16, 4), (16, 8)
RESULTS = 8
"""Results of a thread."""


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
    row_grid = (width // (RESULTS * ROW_BLOCK[0]), height // ROW_BLOCK[1])
    column_grid = (width // COLUMN_BLOCK[0], height // (RESULTS * COLUMN_BLOCK[1]))
    for _ in range(size["rounds"]):
        device.launch("convolve_rows", row_grid, ROW_BLOCK, halfway, image, width, height, width)
        device.launch("convolve_columns", column_grid, COLUMN_BLOCK, result, halfway, width, height, width)
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
        "A convolution with 17 weights along rows, then one along columns. A block of 16 x 4 (rows) or 16 x 8 threads"
        " (columns) copies eight elements a thread and a halo of one element a thread on both sides to shared memory;"
        " after a barrier each thread computes eight results of 17 fused multiply-adds each, completely unrolled, with"
        " weights from constant memory. Straight-line code with eight independent chains; shared memory values are"
        " read once."
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
