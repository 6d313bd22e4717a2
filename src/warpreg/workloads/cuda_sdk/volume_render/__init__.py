"""volume-render: a picture of a volume by ray marching through a 3D texture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.filtering import split, weights
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (16, 16)
SIDE = 32
"""Voxels of the volume each way."""

MAX_STEPS = 500
OPAQUE = 0.95
VIEW_DEPTH = 2.0
DENSITY, BRIGHTNESS, TRANSFER_OFFSET, TRANSFER_SCALE = 0.25, 1.0, 0.0, 1.0
THOUSANDTH = np.float32(0.001)

DISTANCE = 4.0
TILT, TURN = np.deg2rad(25), np.deg2rad(35)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``volume``: uint8[32, 32, 32], a hollow ball of lumps; ``transfer``: float32[9, 4]; ``view``: float32[3, 4]."""
    z, y, x = np.mgrid[0:SIDE, 0:SIDE, 0:SIDE] / (SIDE - 1) * 2 - 1
    radius = np.sqrt(x * x + y * y + z * z)
    volume = np.exp(-(((radius - 0.7) / 0.1) ** 2)) * 0.3
    lumps = rng.normal(0, 1, (60, 3))
    lumps *= 0.7 / np.linalg.norm(lumps, axis=1, keepdims=True)
    for lump_x, lump_y, lump_z in lumps:
        volume += np.exp(-((x - lump_x) ** 2 + (y - lump_y) ** 2 + (z - lump_z) ** 2) / 0.01)
    volume[radius > 0.95] = 0
    levels = np.clip(np.rint(255 * volume), 0, 255).astype(np.uint8)
    return {"volume": levels, "transfer": rainbow(), "view": view()}


def rainbow() -> Array:
    """Nothing, then the colours from red to violet, all opaque: float32[9, 4]."""
    hue = np.linspace(0, 1, 7)[:, None]
    colours = np.clip(1.5 - np.abs(4 * hue - np.array([0.5, 2.0, 3.5])), 0, 1)
    transfer = np.zeros((9, 4), np.float32)
    transfer[1:8, :3], transfer[1:8, 3] = colours, 1
    return transfer


def view() -> Array:
    """Rows of the matrix from the eye's coordinates, 4 before the volume, to the turned volume's: float32[3, 4]."""
    tilt = np.array([[1, 0, 0], [0, np.cos(TILT), -np.sin(TILT)], [0, np.sin(TILT), np.cos(TILT)]])
    turn = np.array([[np.cos(TURN), 0, np.sin(TURN)], [0, 1, 0], [-np.sin(TURN), 0, np.cos(TURN)]])
    rotation = turn @ tilt
    return np.column_stack([rotation, rotation @ [0, 0, DISTANCE]]).astype(np.float32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``picture``: uint8[height, width, 4], and its ``mean``: float64[1]."""
    width, height = size["width"], size["height"]
    device.assign("inverse_view", inputs["view"])
    volume = device.texture(inputs["volume"], "3d", filter="linear", normalized=True, read="normalized")
    transfer = device.texture(inputs["transfer"], "1d", filter="linear", normalized=True)
    picture = device.zeros((height, width, 4), np.uint8)
    numbers = DENSITY, BRIGHTNESS, TRANSFER_OFFSET, TRANSFER_SCALE, size["step"] * THOUSANDTH
    grid = blocks(width, BLOCK[0]), blocks(height, BLOCK[1])
    device.launch("render", grid, BLOCK, picture, width, height, *numbers, volume, transfer)
    return _with_mean(picture.download())


def _with_mean(picture: Array) -> Arrays:
    return {"picture": picture, "mean": np.array([picture.mean()])}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All rays step by step in float64; those that have ended are left out."""
    shape = height, width = size["height"], size["width"]
    step = float(size["step"] * THOUSANDTH)
    matrix = inputs["view"].astype(np.float64)
    y, x = np.mgrid[0:height, 0:width].reshape(2, -1)
    direction = np.stack([x / width * 2 - 1, y / height * 2 - 1, np.full(x.shape, -VIEW_DEPTH)], axis=1)
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True) @ matrix[:, :3].T
    origin = matrix[:, 3]
    near, far = crossing(origin, direction)
    rays = np.flatnonzero(far > near)
    sums = np.zeros((height * width, 4))

    t, last = np.maximum(near[rays], 0), far[rays]
    place, stride = origin + direction[rays] * t[:, None], direction[rays] * step
    total = np.zeros((len(rays), 4))
    for _ in range(MAX_STEPS):
        if not rays.size:
            break
        sample = fetch_3d(inputs["volume"], place * 0.5 + 0.5) / 255
        colour = fetch_1d(inputs["transfer"], (sample - TRANSFER_OFFSET) * TRANSFER_SCALE)
        share = colour[:, 3] * DENSITY * (1 - total[:, 3])
        total[:, :3] += colour[:, :3] * share[:, None]
        total[:, 3] += share
        sums[rays] = total
        t = t + step
        goes_on = (total[:, 3] <= OPAQUE) & (t <= last)
        rays, t, last, total = rays[goes_on], t[goes_on], last[goes_on], total[goes_on]
        place, stride = (place + stride)[goes_on], stride[goes_on]
    levels = np.clip(sums * BRIGHTNESS, 0, 1) * 255
    return _with_mean(levels.astype(np.uint8).reshape(*shape, 4))


def crossing(origin: Array, direction: Array) -> tuple[Array, Array]:
    """Where rays from ``origin`` enter and leave the cube from -1 to 1: float64[rays] each."""
    with np.errstate(divide="ignore"):
        low, high = (-1 - origin) / direction, (1 - origin) / direction
    near: Array = np.minimum(low, high).max(axis=1)
    far: Array = np.maximum(low, high).min(axis=1)
    return near, far


def fetch_3d(volume: Array, place: Array) -> Array:
    """Linear filtering at normalized places, (x, y, z) a row, clamped at the faces."""
    (x, fx), (y, fy), (z, fz) = (split(place[:, axis] * SIDE, SIDE) for axis in range(3))
    total = np.zeros(len(place))
    for corner, weight in enumerate(weights(fx, fy, fz)):
        right, lower, behind = corner & 1, corner >> 1 & 1, corner >> 2
        columns, rows, slices = (np.clip(c, 0, SIDE - 1) for c in (x + right, y + lower, z + behind))
        total += weight * volume[slices, rows, columns]
    return total


def fetch_1d(table: Array, place: Array) -> Array:
    """Linear filtering of float32[n, 4] at normalized places, clamped at the ends."""
    below, fraction = split(place * len(table))
    lower, upper = (table[np.clip(below + side, 0, len(table) - 1)] for side in (0, 1))
    mixed: Array = lower * (1 - fraction)[:, None] + upper * fraction[:, None]
    return mixed


WORKLOAD = Workload(
    name="volume-render",
    title="Volume rendering",
    description=(
        "A picture of a volume of 32 x 32 x 32 voxels by ray marching. As in the SDK's sample a thread of a 16 x 16"
        " block follows one ray, found from a matrix in constant memory: it intersects the cube, then at each step"
        " fetches a density from a 3D texture with linear filtering and its colour from a 1D texture, and adds the"
        " colour from front to back. Rays miss the cube, leave it after different distances, or end early when nothing"
        " shows through, so that warps diverge. Some fourteen values live through the loop; a step's own are read"
        " once."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "texture", "divergence", "partial-warps", "constant-memory", "sfu", "iterative"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # ``step``: how far a ray goes at a time, in thousandths. The sample's is 10; four times that is enough for the
    # picture of two full waves of threads.
    sizes={
        "tiny": {"width": 45, "height": 37, "step": 40},
        "small": {"width": 704, "height": 480, "step": 40},
        "full": {"width": 768, "height": 768, "step": 10},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The place after 300 steps is exact to 300 * 2^-23, that is 6e-4 of a voxel or a sixth of a 256th: weights of some
    # samples go to the next 256th, which is a quarter of a level at most, and those of a ray go both ways. A ray that
    # has just not turned opaque takes another sample, which adds 0.05 * 0.25 * 255, three levels, and the cut to whole
    # levels may make four of them. Few rays do so, as their mean shows.
    tolerance={"picture": Tolerance(absolute=4), "mean": Tolerance(absolute=0.003)},
)
