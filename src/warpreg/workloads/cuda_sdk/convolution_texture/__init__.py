"""convolution-texture: an image convolved along rows, then along columns, through a texture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

RADIUS = 8
BLOCK = (16, 12)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[height, width] of whole numbers below 16, ``weights``: float32[17], likewise."""
    image = rng.integers(0, 16, (size["height"], size["width"])).astype(np.float32)
    return {"image": image, "weights": rng.integers(0, 16, 2 * RADIUS + 1).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` times the same two launches; ``image``: float32[height, width]."""
    width, height = size["width"], size["height"]
    device.assign("weights", inputs["weights"])
    halfway, result = (device.zeros((height, width), np.float32) for _ in range(2))
    image, image_halfway = device.texture(inputs["image"]), device.texture(halfway)
    by_row = blocks(width, 2 * BLOCK[0]), blocks(height, BLOCK[1])
    by_column = blocks(width, BLOCK[0]), blocks(height, 2 * BLOCK[1])
    for _ in range(size["rounds"]):
        device.launch("convolve_rows", by_row, BLOCK, image, halfway, width, height)
        device.launch("convolve_columns", by_column, BLOCK, image_halfway, result, width, height)
    return {"image": result.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Two one-dimensional convolutions in float64, with the outermost pixels repeated."""
    result = inputs["image"].astype(np.float64)
    for axis in (1, 0):
        length = result.shape[axis]
        margins = [(RADIUS, RADIUS) if this == axis else (0, 0) for this in range(2)]
        padded = np.pad(result, margins, mode="edge")
        shifted = (
            padded.take(range(shift, shift + length), axis=axis) * weight
            for shift, weight in enumerate(inputs["weights"][::-1].astype(np.float64))
        )
        result = sum(shifted, np.zeros(()))
    return {"image": result.astype(np.float32)}


WORKLOAD = Workload(
    name="convolution-texture",
    title="Separable convolution through textures",
    description=(
        "A convolution with 17 weights along rows, then one along columns, without shared memory: each thread, of"
        " blocks of 16 x 12, owns two results that are neighbours along the convolution and fetches the 18 pixels that"
        " they need through a texture, which clamps coordinates. Weights come from constant memory; the loop is"
        " unrolled. Straight-line code of fetches at computed coordinates and two chains of fused multiply-adds; where"
        " the fetches go first, their 18 results wait in registers, and most are read twice."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "texture", "constant-memory", "partial-warps", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 75, "height": 50, "rounds": 1},
        "small": {"width": 1100, "height": 700, "rounds": 1},
        "full": {"width": 3072, "height": 1536, "rounds": 2},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # All terms are positive: 17 roundings each way, 35 * 2^-24. (Sums along rows are exact, whole numbers below 2^24.)
    tolerance=Tolerance(relative=2.1e-6),
)
