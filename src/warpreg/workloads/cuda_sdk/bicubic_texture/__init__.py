"""bicubic-texture: a magnified view of an image through a texture, by five kinds of interpolation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import linear, photograph, point
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (16, 16)
SCALE = 0.3125
"""Texels a pixel of the view.  In binary fractions, so that places of pixels are exact."""

SHIFT = (9.125, -3.375)
WHITE = 255.0

VIEWS = (
    ("nearest", "render_plain", "point"),
    ("bilinear", "render_plain", "linear"),
    ("bicubic", "render_bicubic", "point"),
    ("fast_bicubic", "render_fast_bicubic", "linear"),
    ("catmull_rom", "render_catmull_rom", "point"),
)
"""View, its kernel and the filter of its texture."""

Weights = Callable[[Array], tuple[Array, Array, Array, Array]]


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[image_height, image_width]."""
    return {"image": photograph(size["image_height"], size["image_width"], rng)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a view; each uint8[height, width, 4], grey with 0 as the fourth channel."""
    width, height = size["width"], size["height"]
    image = device.upload(inputs["image"])
    grid = blocks(width, BLOCK[0]), blocks(height, BLOCK[1])
    numbers = (*SHIFT, SCALE, *centre(size))
    outputs = {}
    for name, kernel, filter_ in VIEWS:
        texture = device.texture(image, filter="linear" if filter_ == "linear" else "point", read="normalized")
        view = device.zeros((height, width, 4), np.uint8)
        device.launch(kernel, grid, BLOCK, texture, view, width, height, *numbers)
        outputs[name] = view.download()
    return outputs


def centre(size: Size) -> tuple[float, float]:
    """The pixel of the view that shows the texel of the same place, but for the shift."""
    return size["width"] * 0.5, size["height"] * 0.5


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64; linear filters round fractions as textures do."""
    image = inputs["image"]
    y, x = np.mgrid[0 : size["height"], 0 : size["width"]]
    u, v = (
        (place - middle) * SCALE + middle + shift
        for place, middle, shift in zip((x, y), centre(size), SHIFT, strict=True)
    )
    levels = {
        "nearest": point(image, np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)),
        "bilinear": linear(image, u, v),
        "bicubic": _of_4x4(image, u, v, spline),
        "fast_bicubic": _fast_bicubic(image, u, v),
        "catmull_rom": _of_4x4(image, u, v, catmull_rom),
    }
    return {name: _grey(level) for name, level in levels.items()}


def spline(t: Array) -> tuple[Array, Array, Array, Array]:
    """Cubic B-spline weights of the texels at -1, 0, 1 and 2."""
    first, second = (1 - t) ** 3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6
    last = t**3 / 6
    return first, second, 1 - first - second - last, last


def catmull_rom(t: Array) -> tuple[Array, Array, Array, Array]:
    """Catmull-Rom weights of the texels at -1, 0, 1 and 2."""
    first, last = -t * (1 - t) ** 2 / 2, t**2 * (t - 1) / 2
    second = 1.5 * t**3 - 2.5 * t**2 + 1
    return first, second, 1 - first - second - last, last


def _of_4x4(image: Array, u: Array, v: Array, weights: Weights) -> Array:
    (x, across), (y, down) = ((np.floor(c - 0.5).astype(np.int64), weights((c - 0.5) % 1)) for c in (u, v))
    total = np.zeros_like(u)
    for row, weight_y in enumerate(down, -1):
        for column, weight_x in enumerate(across, -1):
            total += weight_y * weight_x * point(image, x + column, y + row)
    return total


def _fast_bicubic(image: Array, u: Array, v: Array) -> Array:
    pairs_x, pairs_y = _pairs(u), _pairs(v)
    total = np.zeros_like(u)
    for weight_y, y in pairs_y:
        for weight_x, x in pairs_x:
            total += weight_y * weight_x * linear(image, x, y)
    return total


def _pairs(coordinate: Array) -> list[tuple[Array, Array]]:
    """Weight of the lower and upper two texels, and the place between them of the fetch that mixes them rightly."""
    below = np.floor(coordinate - 0.5)
    first, second, third, last = spline(coordinate - 0.5 - below)
    lower = (first + second, below - 0.5 + second / (first + second))
    return [lower, (third + last, below + 1.5 + last / (third + last))]


def _grey(level: Array) -> Array:
    view = np.zeros((*level.shape, 4), np.uint8)
    view[..., :3] = np.clip(level, 0, WHITE)[..., None]
    return view


WORKLOAD = Workload(
    name="bicubic-texture",
    title="Bicubic image interpolation",
    description=(
        "A view of a grey image, shifted and magnified 3.2 times, rendered five times: with the texture's nearest and"
        " bilinear filters, with a cubic B-spline over 16 point fetches, with the same spline as four bilinear fetches"
        " at computed places, and with a Catmull-Rom spline. As in the SDK's sample, blocks of 16 x 16 threads, a"
        " pixel a thread, one kernel a method. Spline weights are polynomials of two fractions that every row of"
        " fetches reads again, so that a dozen values live across the texture fetches; all else is read once."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "texture", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"image_width": 61, "image_height": 47, "width": 75, "height": 37},
        "small": {"image_width": 512, "image_height": 512, "width": 704, "height": 480},
        "full": {"image_width": 512, "image_height": 512, "width": 2048, "height": 1536},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Levels are cut off to whole numbers: a rounding in single precision may lead to the one beside it.  Places of fast
    # fetches are rounded to 2^-15 (below 512), so that a fraction may go to the next 256th, which is less than a level;
    # in x and y at once, that is another one.  Nearest texels come back as they were.
    tolerance={
        "bilinear": Tolerance(absolute=1),
        "bicubic": Tolerance(absolute=1),
        "catmull_rom": Tolerance(absolute=1),
        "fast_bicubic": Tolerance(absolute=2),
    },
)
