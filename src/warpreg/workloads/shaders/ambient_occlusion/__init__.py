"""ambient-occlusion: pixel shaders that probe the depth buffer around each pixel, and smooth what they find."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import floats, normalize, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
PROBES = 16
RADIUS, BIAS, STRENGTH = 0.8, 0.02, 1.4


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A view of spheres on a floor: ``depths``: float32[height, width], ``normals``: uint8[height, width, 4]."""
    view = scene.view(rng, size["height"], size["width"])
    return {"depths": view.depth, "normals": scene.bytes_of(padded(view.normal) * 0.5 + 0.5)}


def probes() -> Array:
    """Points of the upper half of the unit ball, denser towards its middle: float64[16, 3]."""
    number = np.arange(PROBES) + 0.5
    height, angle = 0.1 + 0.9 * number / PROBES, number * np.pi * (3 - np.sqrt(5))
    across = np.sqrt(1 - height**2)
    length = 0.1 + 0.9 * ((5 * number) % PROBES / PROBES) ** 2
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=-1) * length[:, None]


def constants(size: Size) -> Array:
    """The constants of the shader, for the rays of `scene.rays`: float32[18, 4]."""
    height, width = size["height"], size["width"]
    lens = floats([1.2 / height, width / 2, height / 2, scene.LEVEL])
    return np.vstack([lens, floats([RADIUS, BIAS, STRENGTH, scene.FARTHEST]), padded(probes())])


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; float32[height, width] ``open``, from 0 to 1, and ``smooth``."""
    height, width = size["height"], size["width"]
    depths = device.texture(inputs["depths"], filter="linear")
    normals = device.texture(inputs["normals"], read="normalized")
    device.assign("view", constants(size))
    open_, smooth = (device.zeros((height, width), np.float32) for _ in range(2))
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("occlude_pixels", grid, (BLOCK, BLOCK), depths, normals, open_, width, height)
    device.launch("smooth_pixels", grid, (BLOCK, BLOCK), depths, device.texture(open_), smooth, width, height)
    return {"open": open_.download(), "smooth": smooth.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Probe by probe over the pixels where something is drawn, in float64."""
    depths = inputs["depths"]
    open_ = np.ones_like(depths)
    drawn = depths < scene.FARTHEST
    open_[drawn] = _open(size, depths, np.nonzero(drawn), inputs["normals"][drawn])
    return {"open": open_, "smooth": _smooth(depths, open_)}


def _open(size: Size, depths: Array, pixels: tuple[Array, ...], normals: Array) -> Array:
    (slope, middle, centre, level), *_ = constants(size).astype(np.float64)
    rows, columns = pixels
    depth = depths[pixels].astype(np.float64)
    position = np.stack([(columns + 0.5 - middle) * slope, level - (rows + 0.5 - centre) * slope, depth / depth], -1)
    position *= depth[:, None]
    tangent, other, normal = _frame(
        2 * scene.unit(normals)[:, :3].astype(np.float64) - 1, rows * size["width"] + columns
    )
    occluded = np.zeros(len(depth))
    for x, y, z in floats(probes()).astype(np.float64):
        probe = position + RADIUS * (x * tangent + y * other + z * normal)
        u, v = probe[:, 0] / probe[:, 2] / slope, (level - probe[:, 1] / probe[:, 2]) / slope
        found = sample(depths, u + middle, v + centre, filter="linear").astype(np.float64)
        hidden = saturate((probe[:, 2] - found - BIAS) * 20)
        occluded += hidden * saturate(2 - np.abs(depth - found) / RADIUS)
    light: Array = saturate(1 - STRENGTH * occluded / PROBES) ** 2
    return light


def _frame(directions: Array, pixels: Array) -> tuple[Array, Array, Array]:
    """Two tangents, turned by the pixel's angle, and the normal."""
    normal = normalize(directions)
    x, y, z = normal.T
    sign = np.copysign(1, z)
    a = -1 / (sign + z)
    first = np.stack([1 + sign * x * x * a, sign * x * y * a, -sign * x], axis=-1)
    second = np.stack([x * y * a, sign + y * y * a, -y], axis=-1)
    state: Array = pixels.astype(np.uint32)
    state = (state ^ state >> 16) * np.uint32(0x7FEB352D)
    state = (state ^ state >> 15) * np.uint32(0x846CA68B)
    angle = ((state ^ state >> 16) >> 8) * (2 * np.pi / 2**24)
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return cosine * first + sine * second, cosine * second - sine * first, normal


def _smooth(depths: Array, open_: Array) -> Array:
    """The mean of 4 x 4 pixels around the upper left corner of each, as far as their depths are alike."""
    height, width = depths.shape
    depth, light = (np.pad(array.astype(np.float64), ((2, 1), (2, 1)), mode="edge") for array in (depths, open_))
    total, sum_ = np.zeros(depths.shape), np.zeros(depths.shape)
    for j in range(4):
        for i in range(4):
            window = slice(j, j + height), slice(i, i + width)
            weight = saturate(1 - np.abs(depth[window] - depths) * 4 / depths)
            sum_ += weight * light[window]
            total += weight
    return floats(sum_ / total)


WORKLOAD = Workload(
    name="ambient-occlusion",
    title="Screen-space ambient occlusion",
    description=(
        "How much of the sky each pixel of a view of spheres on a floor sees, as far as the depth buffer tells. In"
        " blocks of 16 x 16 a thread decodes its normal, makes an orthonormal frame without branches, turns it by an"
        " angle that is an integer hash, and probes sixteen points of a hemisphere in constant memory, four to a round"
        " of the loop: nine fused multiply-adds, a division for the projection, a bilinear fetch of the depth, two"
        " clamped differences. The frame and the position, a dozen values, live through the loop. A second kernel"
        " smooths over 4 x 4 pixels with 32 fetches. The sky takes an early exit."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "sfu", "constant-memory", "divergence", "several-launches"),
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
    # A probe's place is right to 2^-14 pixels and less, so in one fetch of 32 a filter's fraction is 1/256 off. That
    # matters at outlines, for one fetch of 100, where the depth jumps by 10 and more, and where the mixture of depths
    # lies within the radius, one time in ten: for one of 16 * 32 * 100 * 10 / 16^2 pixels at most.
    tolerance=Tolerance(absolute=1e-3, fraction=5e-4),
)
