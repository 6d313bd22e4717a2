"""The layers of MobileNet that are repeated: a depth-wise and a point-wise convolution thirteen times."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.workload import Array, Size

EPSILON = 1e-3
HIGHEST = 6.0
"""Where the rectifier cuts off."""


class Block(NamedTuple):
    """A depth-wise convolution of ``channels`` maps with its stride, then a point-wise one to ``maps``."""

    name: str
    side: int
    channels: int
    stride: int
    maps: int

    @property
    def out_side(self) -> int:
        """Rows of a map behind the depth-wise convolution."""
        return self.side // self.stride


def table(size: Size) -> list[Block]:
    """The thirteen pairs; a first map of ``side`` pixels squared, ``narrower`` times fewer maps."""
    maps = [32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024]
    side = size["side"]
    rows = []
    for number, (channels, outputs) in enumerate(pairwise(maps), 1):
        stride = 2 if number in (2, 4, 6, 12) else 1
        rows.append(Block(f"layer{number:02}", side, channels // size["narrower"], stride, outputs // size["narrower"]))
        side //= stride
    return rows


def norms(rng: np.random.Generator, maps: int) -> Array:
    """float32[4, maps]: scale, shift, mean and variance of each map."""
    gamma, variance = rng.uniform(0.8, 1.6, (2, maps))
    beta, mean = rng.uniform(-0.3, 0.3, (2, maps))
    return np.stack([gamma, beta, mean, variance]).astype(np.float32)


def normalise(x: Array, norm: Array) -> Array:
    """Batch normalisation and the rectifier that cuts off at six, of float64[images, maps, rows, cols]."""
    gamma, beta, mean, variance = norm.astype(np.float64)[:, :, None, None]
    result: Array = np.clip((x - mean) * (gamma / np.sqrt(variance + EPSILON)) + beta, 0.0, HIGHEST)
    return result


def depthwise(x: Array, filters: Array, stride: int) -> Array:
    """Each map of [images, channels, side, side] with its own 3 x 3 filter and one zero round the edge.

    With stride 2 only the far edges have the zeros, so that the result has half the side.
    """
    near = 2 - stride
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (near, 1), (near, 1)))
    result: Array = np.einsum("nchwij,cij->nchw", layers.windows(padded, 3, stride), filters.astype(np.float64))
    return result
