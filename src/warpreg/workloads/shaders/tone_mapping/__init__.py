"""tone-mapping: exposure by the mean luminance, a filmic curve and gamma, to 8 bits a channel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import padded, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 16
KEY, SPEED = 0.35, 0.5
FIRST_ADAPTED = 0.2
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``pictures``: float16[frames, height, width, 4], smooth, the brightest a thousand times the darkest.

    The view moves from frame to frame, and the light doubles.
    """
    shape = size["height"], size["width"]
    light = 2.0 ** (10 * scene.noise(rng, *shape, 1) - 7)
    picture = light * (0.25 + scene.noise(rng, *shape, 3, cells=8))
    frames = (padded(np.roll(picture, 11 * n, axis=1) * 2**n, 1.0) for n in range(size["frames"]))
    return {"pictures": np.array([frame.astype(np.float16) for frame in frames])}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Three launches a frame; ``pictures``: uint8[frames, height, width, 4], ``adapted``: float32[frames]."""
    height, width = size["height"], size["width"]
    across, down = blocks(width, 2 * TILE), blocks(height, 2 * TILE)
    sums = device.zeros(across * down, np.float32)
    adapted = device.upload(np.array([FIRST_ADAPTED], np.float32))
    packed = device.zeros((height, width), np.uint32)
    grid = blocks(width, TILE), blocks(height, TILE)
    pictures, levels = [], []
    for frame in inputs["pictures"]:
        picture = device.texture(frame)
        device.launch("measure_tiles", (across, down), (TILE, TILE), picture, sums, width, height)
        device.launch("adapt", 1, TILE * TILE, sums, adapted, across * down, float(width * height), SPEED)
        device.launch("expose", grid, (TILE, TILE), picture, adapted, packed, width, height, KEY)
        pictures.append(packed.download().view(np.uint8).reshape(height, width, 4))
        levels.append(adapted.download())
    return {"pictures": np.array(pictures), "adapted": np.concatenate(levels)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same in float64, a frame at a time."""
    adapted, pictures, levels = FIRST_ADAPTED, [], []
    for frame in inputs["pictures"]:
        colour = frame[..., :3].astype(np.float64)
        grey = colour @ LUMINANCE
        adapted += (2.0 ** np.log2(grey + 1e-4).mean() - adapted) * SPEED
        exposure = KEY / (adapted + 1e-3) * _vignette(*grey.shape)
        mapped, middle = filmic(exposure[..., None] * colour), filmic(exposure * grey)[..., None]
        encoded = 255 * (middle + (0.85 + 0.15 * middle) * (mapped - middle)) ** (1 / 2.2) + 0.5
        opaque = np.full((*grey.shape, 1), 255.0)
        pictures.append(np.concatenate([encoded, opaque], axis=-1).astype(np.uint8))
        levels.append(adapted)
    return {"pictures": np.array(pictures), "adapted": np.array(levels, np.float32)}


def filmic(x: Array) -> Array:
    """The tone curve, from 0 to 1."""
    return saturate(x * (2.2 * x + 0.08) / (x * (2.1 * x + 0.55) + 0.16))


def _vignette(height: int, width: int) -> Array:
    across, down = ((np.arange(n) + 0.5) / n - 0.5 for n in (width, height))
    return saturate(1.1 - 0.9 * (across**2 + down[:, None] ** 2))


WORKLOAD = Workload(
    name="tone-mapping",
    title="Tone mapping",
    description=(
        "Pictures of high dynamic range become 8-bit ones. In blocks of 16 x 16, a first kernel sums the logarithm of"
        " the luminance of 32 x 32 pixels a block, by a tree in shared memory; a single block adds up the sums and"
        " moves the adaptation; a pixel shader then exposes each pixel, bends luminance and three channels by a filmic"
        " curve, two divisions' worth of short polynomials, mixes them, takes a power for gamma and packs four bytes."
        " Half floats through a point-sampled texture, many operations of the special function unit, and values that"
        " live for a few instructions."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "sfu", "shared-memory", "barriers", "several-launches"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 37, "frames": 2},
        "small": {"width": 1024, "height": 576, "frames": 1},
        "full": {"width": 1920, "height": 1080, "frames": 3},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # Eight roundings of up to 2^-23 in a channel are 255 * 2^-20 = 2.4e-4 of a step: so many values may fall on the
        # other side where they are rounded to whole steps.
        "pictures": Tolerance(fraction=2.4e-4),
        # A mean of numbers of up to 13, each right to 2^-22 of that, and a sum in trees of 20 levels.
        "adapted": Tolerance(relative=2e-5),
    },
)
