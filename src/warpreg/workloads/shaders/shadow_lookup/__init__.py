"""shadow-lookup: a pixel shader that filters a shadow map."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, normalize, padded, sample, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
BIAS = 0.01
TO_LIGHT = normalize(np.array([0.5, 1.0, -0.3]))
MIDDLE = np.array([0.0, 0.0, 9.0])
REACH = 9.0
"""Half the side of the square that the shadow map covers, seen from the light."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A view of spheres on a floor, and the depths that the light sees of it.

    ``positions`` and ``normals``: float32[height, width, 4]; ``depths``: float32[texels, texels];
    ``rows``: float32[3, 4], position to column, row and depth of the map.
    """
    view = scene.view(rng, size["height"], size["width"])
    rows = _to_map(size["texels"])
    return {
        "positions": padded(view.position, 1.0),
        "normals": padded(view.normal),
        "depths": _occluders(rng, size["texels"]),
        "rows": rows.astype(np.float32),
    }


def _to_map(texels: int) -> Array:
    """An orthogonal projection along the light: float64[3, 4]."""
    right = normalize(np.cross([0.0, 0.0, 1.0], TO_LIGHT))
    up = np.cross(TO_LIGHT, right)
    scaled = np.array([right, up]) * texels / 2 / REACH
    axes = np.vstack([scaled, -TO_LIGHT / 2 / REACH])
    offsets = np.array([texels / 2, texels / 2, 0.5]) - axes @ MIDDLE
    return np.hstack([axes, offsets[:, None]])


def _occluders(rng: np.random.Generator, texels: int) -> Array:
    """Depths of the floor, 0.5 in the middle, and of 24 discs and balls above it: float32[texels, texels]."""
    y, x = np.mgrid[:texels, :texels] / texels * 2 - 1
    depths = _floor_depth(x, y)
    for _ in range(24):
        centre, radius = rng.uniform(-0.9, 0.9, 2), rng.uniform(0.04, 0.2)
        height = np.sqrt(np.maximum(radius**2 - (x - centre[0]) ** 2 - (y - centre[1]) ** 2, 0)) / 2
        depths = np.where(height > 0, np.minimum(depths, _floor_depth(*centre) - 0.05 - height), depths)
    return depths.astype(np.float32)


def _floor_depth(x: Array, y: Array) -> Array:
    """The depth of the floor where the light sees it at (x, y), from -1 to 1."""
    rows = _to_map(2)
    inverse = np.linalg.inv(rows[:, :3])
    slope = -inverse[1] / inverse[1, 2]
    at_middle = rows[:, :3] @ MIDDLE + rows[:, 3]
    depth: Array = at_middle[2] + slope[0] * (x + 1 - at_middle[0]) + slope[1] * (y + 1 - at_middle[1])
    return depth


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``shadows``: float32[height, width], the cosine of the light times the part that arrives."""
    height, width = size["height"], size["width"]
    depths = device.texture(inputs["depths"])
    positions, normals = (device.upload(inputs[name]) for name in ("positions", "normals"))
    device.assign("light", np.vstack([inputs["rows"], padded(TO_LIGHT, BIAS)]))
    shadows = device.zeros((height, width), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    arguments = depths, positions, normals, shadows, width, height, float(size["texels"])
    device.launch("shadow_pixels", grid, (BLOCK, BLOCK), *arguments)
    return {"shadows": shadows.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The mean of nine bilinear comparisons for the pixels that face the light, in float64."""
    texels = size["texels"]
    facing = dot(inputs["normals"][..., :3], padded(TO_LIGHT)[:3].astype(np.float64))
    shadows = np.maximum(facing, 0)
    places = inputs["positions"].astype(np.float64) @ inputs["rows"].astype(np.float64).T
    inside = (facing > 0) & (places[..., :2] >= 2).all(axis=-1) & (places[..., :2] <= texels - 2).all(axis=-1)
    x, y, depth = places[inside].T
    lit = np.zeros(len(x))
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            lit += _bilinear(inputs["depths"], x + across, y + down, depth - BIAS)
    shadows[inside] *= lit / 9
    return {"shadows": shadows.astype(np.float32)}


def _bilinear(depths: Array, x: Array, y: Array, depth: Array) -> Array:
    """The four comparisons around (x, y), mixed."""
    left, top = np.floor(x - 0.5), np.floor(y - 0.5)
    right, below = x - 0.5 - left, y - 0.5 - top
    lit = [[sample(depths, left + i + 0.5, top + j + 0.5) >= depth for i in (0, 1)] for j in (0, 1)]
    upper, lower = (row[0] * (1 - right) + row[1] * right for row in lit)
    return upper * (1 - below) + lower * below


WORKLOAD = Workload(
    name="shadow-lookup",
    title="Percentage-closer filtering of a shadow map",
    description=(
        "A pixel shader: how much of a directional light reaches each pixel of a view of spheres on a floor. A thread"
        " in a block of 16 x 16 leaves at once if its surface faces away; otherwise it takes the position to the"
        " light's space by three rows in constant memory, and compares 16 point fetches of the depth map, unrolled,"
        " with the distance to the light. The comparisons are weighted so that nine bilinear squares of 2 x 2 overlap."
        " Fetched depths are read once, at once, by a comparison; few values live on. Warps diverge where surfaces"
        " turn away and at the edge of the map."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "divergence", "constant-memory", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 29, "texels": 64},
        "small": {"width": 1024, "height": 576, "texels": 512},
        "full": {"width": 2560, "height": 1440, "texels": 2048},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A column of the map, up to 2048, is right to four roundings of 2^-13 and so are the weights: up to 2/9 of 5e-4
    # each way. A comparison goes the other way where depths, right to 2^-22, are that near; the floor seen from a pixel
    # spreads over 0.2 in depth, so 16 comparisons differ in less than 16 * 2^-21 / 0.2 = 4e-5 of the pixels.
    tolerance=Tolerance(absolute=2e-4, fraction=4e-5),
)
