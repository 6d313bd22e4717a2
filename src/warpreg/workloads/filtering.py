"""Linear filters of textures in NumPy, for the references of workloads (docs/reference/python.md, "Textures")."""

from __future__ import annotations

import numpy as np

from warpreg.workloads.workload import Array

FRACTIONS = 256
"""Coordinates and weights are whole 256ths."""


def split(coordinate: Array, extent: int = 0) -> tuple[Array, Array]:
    """The texel below a coordinate in texels, and how far the next one counts, in whole 256ths.

    With an ``extent`` the texture is clamped: beyond the outer centres, the outer texel counts alone.
    """
    rounded = np.rint(np.asarray(coordinate, np.float64) * FRACTIONS) / FRACTIONS - 0.5
    below = np.floor(rounded)
    fraction = rounded - below
    if extent:
        fraction = np.where((below >= 0) & (below < extent - 1), fraction, 0.0)
    return below.astype(np.int64), fraction


def weights(*fractions: Array) -> list[Array]:
    """What each corner of a filter counts, x fastest: every axis splits the weights so far in whole 256ths."""
    found: list[Array] = [np.ones(())]
    for fraction in fractions:
        above = [np.rint(weight * fraction * FRACTIONS) / FRACTIONS for weight in found]
        found = [*(weight - high for weight, high in zip(found, above, strict=True)), *above]
    return found
