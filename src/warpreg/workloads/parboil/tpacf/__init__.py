"""tpacf: histograms of the angles between points on the sky, observed and random."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload

BLOCK, BINS = 256, 20
BINS_A_DECADE = 5
SOME = 512


def edges() -> Array:
    """float32[21], falling: cosines of the angles between bins, from one arc minute on, five to a decade."""
    minutes = 10.0 ** (np.arange(BINS + 1) / BINS_A_DECADE)
    return np.cos(np.radians(minutes / 60)).astype(np.float32)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``points``: float32[3, sets + 1, points], unit vectors; those of the first set lie in clusters."""
    shape = size["sets"] + 1, size["points"]
    height, angle = rng.uniform(-1, 1, shape), rng.uniform(0, 2 * np.pi, shape)
    points = np.stack([np.sqrt(1 - height**2) * np.cos(angle), np.sqrt(1 - height**2) * np.sin(angle), height])
    centres = points[:, 0, rng.integers(0, max(1, size["points"] // 20), size["points"])]
    clustered = centres + rng.normal(0, 0.02, centres.shape)
    points[:, 0] = clustered / np.sqrt((clustered**2).sum(axis=0))
    return {"points": points.astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``histograms``: uint64[2 * sets + 1, 20], each set with itself, then the first with each other."""
    histograms = device.zeros((2 * size["sets"] + 1, BINS), np.uint64)
    device.assign("edges", edges())
    axes = [device.upload(axis) for axis in inputs["points"]]
    device.launch("correlate", 2 * size["sets"] + 1, BLOCK, histograms, *axes, size["sets"], size["points"])
    return {"histograms": histograms.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Cosines of all pairs, rounded as the kernel rounds them, and how many lie on which side of each edge."""
    sets = size["sets"]
    points = inputs["points"]
    pairs = [(k, k) for k in range(sets + 1)] + [(0, k) for k in range(1, sets + 1)]
    return {"histograms": np.array([_histogram(points[:, a], points[:, b], a == b) for a, b in pairs], np.uint64)}


def _histogram(first: Array, second: Array, within: bool) -> Array:
    """int64[20]; ``within`` one set each pair counts once."""
    above = np.zeros(BINS + 1, np.int64)
    for start in range(0, first.shape[1], SOME):
        some = first[:, start : start + SOME, None]
        cosine = _cosines(some, second[:, None, start if within else 0 :])
        if within:
            cosine[np.tril_indices_from(cosine)] = np.inf  # before all edges
        above += [np.count_nonzero(cosine >= edge) for edge in edges()]
    histogram: Array = np.diff(above)
    return histogram


def _cosines(first: Array, second: Array) -> Array:
    """Products of vectors in float32 by two fused multiply-adds: exact in float64 but for the sum, then rounded."""
    cosine: Array = first[0] * second[0]
    for axis in (1, 2):
        product = first[axis].astype(np.float64) * second[axis]
        product += cosine
        cosine = product.astype(np.float32)
    return cosine


WORKLOAD = Workload(
    name="tpacf",
    title="Two-point angular correlation",
    description=(
        "Histograms of the angles between points on the sky: within the observed set and each random set, and between"
        " the observed and each random set, one thread block each. 256 points wait in shared memory while each of 256"
        " threads compares its own with all of them: a dot product, a bisection over 21 bin edges in constant memory,"
        " whose steps diverge, and an atomic increment in one of 16 histograms that each warp has in shared memory."
        " These are added in a tree at the end. Few registers, and bounds of a search that are rewritten all the time."
    ),
    suite="parboil",
    tags=("float", "compute", "shared-memory", "atomics", "divergence", "constant-memory", "barriers", "iterative"),
    papers=("regmutex",),
    originals=("parboil/tpacf/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    # A set is one block however many points it has, so small has 25 blocks of 256 threads.
    sizes={
        "tiny": {"sets": 1, "points": 300},
        "small": {"sets": 12, "points": 330},
        "full": {"sets": 10, "points": 4096},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
