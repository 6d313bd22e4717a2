"""Shader-like workloads: short kernels of many threads, rich in texture fetches.

Their references share what stands here: a texture sampler, and arithmetic on vectors along the last axis of arrays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warpreg.workloads import filtering
from warpreg.workloads.workload import Array

Address = Literal["clamp", "wrap"]
Filter = Literal["point", "linear"]


def sample(
    texels: Array, *coordinates: Array, address: Address = "clamp", filter: Filter = "point", normalized: bool = False
) -> Array:
    """What a texture returns at ``coordinates``, x first: float32, of their shape and then the channels, if any.

    ``texels`` has the axes ([[z,] y,] x [, channels]).  Coordinates are rounded to float32 and scaled, for a linear
    filter rounded to 256ths, then wrapped or clamped, and weights are whole 256ths, as docs/reference/python.md says;
    wrapping needs ``normalized``.
    """
    rank = len(coordinates)
    extents = texels.shape[:rank]
    flat = texels.reshape(-1, *texels.shape[rank:])
    axes = [
        _corners(coordinate, extent, address, filter, normalized)
        for coordinate, extent in zip(coordinates, reversed(extents), strict=True)
    ]
    strides = [math.prod(extents[rank - axis :]) for axis in range(rank)]
    if filter == "point":
        lower = [place * stride for (place, _, _), stride in zip(axes, strides, strict=True)]
        return flat.take(functools.reduce(np.add, lower), axis=0)
    total: Array | None = None
    weights = filtering.weights(*(fraction for _, _, fraction in axes))
    for corner, weight in enumerate(weights):
        index = functools.reduce(np.add, [axes[n][corner >> n & 1] * stride for n, stride in enumerate(strides)])
        texel, factor = flat.take(index, axis=0), np.broadcast_to(weight, index.shape).astype(np.float32)
        term = texel * (factor[..., None] if texel.ndim > factor.ndim else factor)
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
) -> tuple[Array, Array, Array]:
    """The lower and upper texel along one axis that a coordinate mixes, and the fraction of the upper one."""
    position = np.asarray(coordinate, np.float32)
    if normalized:
        position = position * np.float32(extent)
    wraps = normalized and address == "wrap"
    lower, fraction = np.floor(position).astype(np.int64), np.zeros_like(position)
    if filter == "linear":
        lower, fraction = filtering.split(position, 0 if wraps else extent)
    if wraps:
        return lower % extent, (lower + 1) % extent, fraction
    return lower.clip(0, extent - 1), (lower + 1).clip(0, extent - 1), fraction


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
