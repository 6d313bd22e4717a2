"""depth-of-field: a pixel shader that blurs what is out of focus by gathering on a disc."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import floats, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
TAPS = 16
FOCUS, GREATEST = 7.0, 12.0


def disc() -> Array:
    """Points of a spiral that covers the unit disc evenly: float32[16, 4], x, y and the distance from the middle."""
    number = np.arange(TAPS) + 0.5
    radius, angle = np.sqrt(number / TAPS), number * np.pi * (3 - np.sqrt(5))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), radius, 0 * radius]).astype(np.float32)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``picture``: float32[height, width, 4], colours of a view of spheres on a floor, and the depth along z."""
    height, width = size["height"], size["width"]
    view = scene.view(rng, height, width)
    light = 0.3 + 0.7 * saturate(view.normal @ floats([0.36, 0.8, -0.48]))
    return {"picture": padded(scene.noise(rng, height, width, 3, cells=8) * light[..., None], view.depth)}


def lens(size: Size) -> Array:
    """The constants of the shader: float32[17, 4]. The circle of what is far away grows with the picture's height."""
    return np.vstack([floats([FOCUS, size["height"] / 40, GREATEST, 0]), disc()])


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    picture = device.texture(inputs["picture"], filter="linear")
    device.assign("lens", lens(size))
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("focus_pixels", grid, (BLOCK, BLOCK), picture, colours, width, height)
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Point by point of the disc, over the pixels that are out of focus."""
    picture = inputs["picture"]
    (_, scale, *_), *points = lens(size).astype(np.float64)
    radii = _circle(picture[..., 3].astype(np.float64), scale)
    rows, columns = np.nonzero(radii >= 0.5)
    centre, radius = picture[rows, columns].astype(np.float64), radii[rows, columns]
    colour, total = centre[:, :3].copy(), np.ones(len(rows))
    for x, y, distance, _ in points:
        tap = sample(picture, columns + 0.5 + radius * x, rows + 0.5 + radius * y, filter="linear").astype(np.float64)
        behind = saturate(tap[:, 3] - centre[:, 3] + 1)
        reach = saturate(_circle(tap[:, 3], scale) - radius * distance + 1)
        weight = reach + behind * (1 - reach) * 0.5
        colour += weight[:, None] * tap[:, :3]
        total += weight
    colours = picture.copy()
    colours[rows, columns, :3] = colour / total[:, None]
    return {"colours": colours}


def _circle(depth: Array, scale: float) -> Array:
    """The radius of the circle of confusion in pixels."""
    return np.minimum(scale * np.abs(1 - FOCUS / depth), GREATEST)


WORKLOAD = Workload(
    name="depth-of-field",
    title="Depth of field",
    description=(
        "A pixel shader: a view of spheres on a floor through a lens that is focused on one distance. A thread in a"
        " block of 16 x 16 computes the circle of confusion of its pixel; pixels in focus keep their colour, the"
        " others gather sixteen bilinear fetches of four floats on a disc in constant memory, unrolled, and weigh each"
        " by a division and three clamped differences. The scheduler may keep many fetches in flight, so registers"
        " grow with what it hoists; sums and the centre live long, weights briefly. Warps diverge along the band that"
        " is in focus."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "divergence", "constant-memory", "sfu"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 37},
        "small": {"width": 768, "height": 432},
        "full": {"width": 1920, "height": 1080},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The radius, up to 12, is right to 2^-20: in 16 * 2 * 256 * 2^-20, one pixel of 128, a filter's fraction is 1/256
    # off, and a colour that changes by up to 0.05 between pixels with it: 2e-4. At outlines, one pixel in ten, depths
    # jump and weights with them.
    tolerance=Tolerance(absolute=2e-4, fraction=8e-4),
)
