"""Workloads after the Parboil suite."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Size

SOME = 64
"""Samples that a reference takes at a time, so that no array per pair gets large."""


def k_space(size: Size, rng: np.random.Generator) -> Arrays:
    """Samples of a magnetic resonance image: places ``k`` within 30 of the origin of k-space and complex ``phi``; and
    ``places`` of the voxels in a unit cube. All float32."""
    samples, voxels = size["samples"], size["voxels"]
    return {
        "k": rng.uniform(-30, 30, (samples, 3)).astype(np.float32),
        "phi": rng.uniform(0, 1, (samples, 2)).astype(np.float32),
        "places": rng.uniform(-0.5, 0.5, (voxels, 3)).astype(np.float32),
    }


def phases(inputs: Arrays) -> Iterator[tuple[slice, Array]]:
    """A few samples at a time, and float64[voxels, samples]: 2 pi times the product of place in the cube and k."""
    k, places = inputs["k"].astype(np.float64), inputs["places"].astype(np.float64)
    for first in range(0, len(k), SOME):
        some = slice(first, first + SOME)
        yield some, 2 * np.pi * (places @ k[some].T)
