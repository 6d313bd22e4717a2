"""Shader-like workloads: short kernels of many threads, rich in texture fetches.

Their references share what stands here: a texture sampler, and arithmetic on vectors along the last axis of arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warpreg.workloads.workload import Array

Address = Literal["clamp", "wrap"]
Filter = Literal["point", "linear"]


def sample(
    texels: Array, *coordinates: Array, address: Address = "clamp", filter: Filter = "point", normalized: bool = False
) -> Array:
    """What a texture returns at ``coordinates``, x first: float32, of their shape and then the channels, if any.

    ``texels`` has the axes ([[z,] y,] x [, channels]).  Coordinates are rounded to float32, scaled, wrapped or clamped,
    and a linear filter's fraction is rounded to 256ths, as docs/reference/python.md says; wrapping needs
    ``normalized``.
    """
    rank = len(coordinates)
    extents = texels.shape[:rank]
    flat = texels.reshape(-1, *texels.shape[rank:])
    axes = [
        _corners(coordinate, extent, address, filter, normalized)
        for coordinate, extent in zip(reversed(coordinates), extents, strict=True)
    ]
    total: Array | None = None
    for corners in product(*axes):
        index, weight = corners[0]
        for extent, (inner, factor) in zip(extents[1:], corners[1:], strict=True):
            index, weight = index * extent + inner, weight * factor
        texel = flat.take(index, axis=0)
        term = texel * (weight[..., None] if texel.ndim > weight.ndim else weight)
        total = term if total is None else total + term
    assert total is not None
    return total


def sample_cube(faces: Array, directions: Array) -> Array:
    """What a cube map with a linear filter returns: float32, ``directions``' shape without x, y, z, then channels.

    ``faces`` is [6, texel, texel, channels] in the order +x, -x, +y, -y, +z, -z.  The largest component chooses the
    face, x before y before z, and the filter stays in it (CUDA C++ Programming Guide, "Cubemap Textures").
    """
    directions = np.asarray(directions, np.float32)
    axis = np.abs(directions).argmax(axis=-1)
    major = np.take_along_axis(directions, axis[..., None], axis=-1)[..., 0]
    negative = major < 0
    x, y, z = np.moveaxis(directions, -1, 0)
    sign = np.where(negative, np.float32(-1), np.float32(1))
    s = np.choose(axis, [-sign * z, x, sign * x])
    t = np.choose(axis, [-y, sign * z, -y])
    u, v = ((minor / np.abs(major) + np.float32(1)) * np.float32(0.5) for minor in (s, t))
    face = 2 * axis + negative
    found = np.zeros((*axis.shape, *faces.shape[3:]), np.float32)
    for number, texels in enumerate(faces):
        hit = face == number
        found[hit] = sample(texels, u[hit], v[hit], filter="linear", normalized=True)
    return found


def _corners(
    coordinate: Array, extent: int, address: Address, filter: Filter, normalized: bool
) -> list[tuple[Array, Array]]:
    """The texels along one axis that a coordinate mixes, with their weights (float32): one, or the lower and upper."""
    position = np.asarray(coordinate, np.float32)
    if normalized and address == "wrap":
        position = position - np.floor(position)
    if normalized:
        position = position * np.float32(extent)
    position = np.clip(position, np.float32(0), np.nextafter(np.float32(extent), np.float32(0)))
    if filter == "point":
        return [(position.astype(np.intp), np.ones_like(position))]
    position = position - np.float32(0.5)
    below = np.floor(position)
    fraction = np.rint((position - below) * np.float32(256)) / np.float32(256)
    lower = below.astype(np.intp)
    if address == "wrap":
        return [(lower % extent, 1 - fraction), ((lower + 1) % extent, fraction)]
    return [(lower.clip(0, extent - 1), 1 - fraction), ((lower + 1).clip(0, extent - 1), fraction)]


def in_parts(shade: Callable[..., Array], *arrays: Array, at_once: int) -> Array:
    """What ``shade`` makes of ``arrays``, taken ``at_once`` along their first axis, so that memory stays small."""
    parts = [shade(*(array[at : at + at_once] for array in arrays)) for at in range(0, len(arrays[0]), at_once)]
    return np.concatenate(parts)


def floats(numbers: ArrayLike) -> Array:
    """``numbers`` as float32, the type of shaders."""
    return np.array(numbers, np.float32)


def dot(a: Array, b: Array) -> Array:
    """The scalar products of vectors along the last axis."""
    product_: Array = np.einsum("...i,...i->...", a, b)
    return product_


def normalize(vectors: Array) -> Array:
    """Vectors along the last axis, scaled to length one."""
    return vectors / np.sqrt(dot(vectors, vectors))[..., None]


def saturate(values: Array) -> Array:
    """Numbers moved into the range from 0 to 1."""
    return np.clip(values, 0, 1)


def padded(vectors: Array, last: float | Array = 0.0) -> Array:
    """Three-vectors as float4: float32[..., 4] with ``last`` as the fourth component."""
    fourth = np.broadcast_to(np.asarray(last, np.float32)[..., None], (*vectors.shape[:-1], 1))
    return np.concatenate([vectors.astype(np.float32), fourth], axis=-1, dtype=np.float32)
