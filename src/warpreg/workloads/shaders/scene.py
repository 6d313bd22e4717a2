"""The pictures that shaders work on: smooth noise for textures, and a view of spheres on a floor under an empty sky."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpreg.workloads.shaders import floats, normalize, sample
from warpreg.workloads.workload import Array

EYE = np.array([0.0, 2.5, 0.0])
"""Where the camera stands; it looks along z, the floor is at height 0."""

FARTHEST = 40.0
LEVEL = -0.2
"""The slope at which the camera looks down."""


@dataclass(frozen=True)
class View:
    """What a rasteriser hands to a pixel shader: float32[height, width, ...], and bool[height, width] ``covered``.

    Where nothing is covered, positions lie on the far plane and normals point to the eye; ``depth`` is along z.
    """

    position: Array
    normal: Array
    uv: Array
    depth: Array
    covered: Array


def noise(rng: np.random.Generator, height: int, width: int, channels: int, cells: int = 4, octaves: int = 3) -> Array:
    """Smooth noise from 0 to 1 that repeats at its edges: float32[height, width, channels].

    The sum of ``octaves`` lattices of random numbers, mixed linearly, each twice as fine and half as strong as the one
    before; the first has ``cells`` cells a side.
    """
    x = ((np.arange(width) + 0.5) / width)[None, :].repeat(height, axis=0)
    y = ((np.arange(height) + 0.5) / height)[:, None].repeat(width, axis=1)
    total = np.zeros((height, width, channels), np.float32)
    for octave in range(octaves):
        lattice = rng.random((cells << octave, cells << octave, channels), dtype=np.float32)
        total += sample(lattice, x, y, address="wrap", filter="linear", normalized=True) * np.float32(0.5**octave)
    return total / np.float32(2 - 0.5 ** (octaves - 1))


def bytes_of(picture: Array) -> Array:
    """Numbers from 0 to 1 as uint8, for a texture that is read normalized."""
    whole: Array = np.rint(picture * 255).astype(np.uint8)
    return whole


def unit(picture: Array) -> Array:
    """What a texture of uint8 reads normalized: float32 from 0 to 1."""
    return picture.astype(np.float32) / np.float32(255)


def rays(height: int, width: int) -> Array:
    """The directions of the pixels of a view: float64[height, width, 3], z is 1."""
    x = (np.arange(width) + 0.5 - width / 2) / height * 1.2
    y = -(np.arange(height) + 0.5 - height / 2) / height * 1.2 + LEVEL
    return np.stack(np.broadcast_arrays(x[None, :], y[:, None], np.float64(1)), axis=-1)


def view(rng: np.random.Generator, height: int, width: int, spheres: int = 12) -> View:
    """A floor, and spheres of random places and sizes that stand on it or float above, ray by ray."""
    direction = rays(height, width)
    down = np.minimum(direction[..., 1], -1e-6)
    depth = np.minimum(-EYE[1] / down, FARTHEST)
    covered = depth < FARTHEST
    normal = np.where(covered[..., None], [0.0, 1.0, 0.0], -normalize(direction))
    for _ in range(spheres):
        radius = rng.uniform(0.5, 1.5)
        centre = np.array([rng.uniform(-5, 5), radius + rng.uniform(0, 2), rng.uniform(4, 14)])
        hit, distance = _meet(direction, centre, radius)
        hit &= distance < depth
        depth[hit], covered[hit] = distance[hit], True
        normal[hit] = (EYE + distance[hit][:, None] * direction[hit] - centre) / radius
    position = EYE + depth[..., None] * direction
    uv = position[..., [0, 2]] * 0.25 + position[..., [1, 1]] * [0.0, 0.25]
    return View(floats(position), floats(normal), floats(uv), floats(depth), covered)


def _meet(direction: Array, centre: Array, radius: float) -> tuple[Array, Array]:
    """Which rays from the eye hit a sphere in front, and how far away."""
    towards = centre - EYE
    squared = (direction**2).sum(axis=-1)
    along = direction @ towards
    discriminant = along**2 - squared * (towards @ towards - radius**2)
    hit = discriminant > 0
    return hit, (along - np.sqrt(np.where(hit, discriminant, 0))) / squared
