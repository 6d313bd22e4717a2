"""What the image workloads share: a picture that looks like a photograph, and texture fetches in NumPy."""

from __future__ import annotations

import numpy as np

from warpreg.workloads.filtering import split, weights
from warpreg.workloads.workload import Array

SHAPES = 24
NOISE = 6.0
"""Standard deviation, in levels of 255."""


def photograph(height: int, width: int, rng: np.random.Generator, channels: int = 0) -> Array:
    """Smooth shading, round objects with edges, and noise: uint8[height, width], or with channels if there are any."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    planes = []
    for _ in range(max(1, channels)):
        slope = rng.uniform(-60, 60, 2)
        plane = 128 + slope[0] * (y / height - 0.5) + slope[1] * (x / width - 0.5)
        planes.append(plane + 20 * np.sin(2 * np.pi * (rng.uniform(1, 4) * x / width + rng.uniform(1, 4) * y / height)))
    picture = np.stack(planes, axis=-1)
    for _ in range(SHAPES):
        centre_y, centre_x = rng.uniform(0, height), rng.uniform(0, width)
        radius = rng.uniform(0.03, 0.2) * min(height, width)
        inside = (y - centre_y) ** 2 + (x - centre_x) ** 2 < radius**2
        picture[inside] = 0.5 * picture[inside] + rng.uniform(0, 128, picture.shape[-1])
    picture += rng.normal(0, NOISE, picture.shape)
    levels: Array = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    return levels if channels else levels.reshape(height, width)


def point(image: Array, x: Array, y: Array) -> Array:
    """Texels at whole coordinates ``x`` and ``y``, clamped to the image: float64, with the image's channels."""
    height, width = image.shape[:2]
    texels: Array = image[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)].astype(np.float64)
    return texels


def linear(image: Array, x: Array, y: Array) -> Array:
    """What a linear filter gives at coordinates in texels, whose centres lie at halves: float64, not rounded."""
    height, width = image.shape[:2]
    below_x, fraction_x = split(x, width)
    below_y, fraction_y = split(y, height)
    total = np.zeros((), np.float64)
    for weight, (right, below) in zip(weights(fraction_x, fraction_y), ((0, 0), (1, 0), (0, 1), (1, 1)), strict=True):
        total = total + point(image, below_x + right, below_y + below) * weight
    return total
