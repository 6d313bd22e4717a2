"""image-blur: a Gaussian blur of a colour image, by texture fetches and by tiles in shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.media import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 16
RADIUS = 4
SIGMA = 1.6


def weights() -> Array:
    """float32[9], a Gaussian with sum 1."""
    powers = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / (2.0 * SIGMA**2))
    result: Array = powers / powers.sum()
    return result.astype(np.float32)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width, 4]."""
    return {"image": photograph(rng, size["height"], size["width"], 4)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches on the same image; uint8[height, width, 4] of each."""
    height, width = size["height"], size["width"]
    device.assign("weights", weights())
    grid = blocks(width, TILE), blocks(height, TILE)
    image = device.upload(inputs["image"])
    by_texture, by_tiles = (device.zeros((height, width, 4), np.uint8) for _ in range(2))
    texture = device.texture(image, "2d", address="clamp", filter="point", read="normalized")
    device.launch("blur_texture", grid, (TILE, TILE), texture, by_texture, width, height)
    device.launch("blur_shared", grid, (TILE, TILE), image, by_tiles, width, height)
    return {"by_texture": by_texture.download(), "by_tiles": by_tiles.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Shifted images along columns, then along rows, in float64."""
    blurred = inputs["image"].astype(np.float64)
    for axis in (0, 1):
        edge = [(RADIUS, RADIUS) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(blurred, edge, mode="edge")
        length = blurred.shape[axis]
        shifts = (padded.take(range(i, i + length), axis=axis) for i in range(2 * RADIUS + 1))
        blurred = sum((float(w) * shift for w, shift in zip(weights(), shifts, strict=True)), np.zeros(1))
    rounded = np.rint(blurred).astype(np.uint8)
    return {"by_texture": rounded, "by_tiles": rounded}


WORKLOAD = Workload(
    name="image-blur",
    title="Gaussian blur",
    description=(
        "A Gaussian blur of a colour image in two ways. In the first kernel a thread sums 9 x 9 texture fetches of"
        " four channels each, a row of nine unrolled, with weights from constant memory: four sums in chains, and"
        " fetched colours that are read once after a long wait. In the second a block of 16 x 16 threads copies a tile"
        " with a halo of four pixels, clamped at the edges, to shared memory, sums along rows with conversions from"
        " bytes, and after a barrier along columns; a third of the threads do a second row. Structured as the blurs of"
        " image libraries are, direct and separable."
    ),
    suite="media",
    tags=("float", "compute", "texture", "shared-memory", "barriers", "constant-memory", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small has 333,312 pixels.
    sizes={
        "tiny": {"height": 37, "width": 45},
        "small": {"height": 512, "width": 651},
        "full": {"height": 1080, "width": 1920},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The roundings of a sum below 255 stay below 1e-4, a few of its last place's 2^-16: two bytes in ten thousand lie
    # that near to half-way between two numbers, and may differ.
    tolerance=Tolerance(fraction=2e-4),
)
