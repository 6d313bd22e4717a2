"""kmeans: points are given to the nearest of a few centres, which then move to the mean of their points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 256
FEATURES = 4
"""Features of a point that a thread moves when the table is turned round."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``features``: float32[points, features], normal around as many random places as there are clusters."""
    middles = 10 * rng.random((size["clusters"], size["features"]), dtype=np.float32)
    features = rng.standard_normal((size["points"], size["features"]), dtype=np.float32)
    features *= np.float32(3)
    features += middles[rng.integers(0, size["clusters"], size["points"])]
    return {"features": features}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """The first points are the first centres; ``membership``: int32[points], ``centres``: float32[clusters, features].

    The host moves the centres after each of ``rounds`` launches, or fewer if no point changes its cluster.
    """
    points, features, clusters = size["points"], size["features"], size["clusters"]
    by_point, by_feature = device.upload(inputs["features"]), device.zeros(points * features, np.float32)
    grid = blocks(points, THREADS)
    device.launch("turn_table", (grid, blocks(features, FEATURES)), THREADS, by_point, by_feature, points, features)
    texture = device.texture(by_feature, kind="1d")
    membership = device.zeros(points, np.int32)
    arguments = (texture, features, points, clusters, membership)

    def assign(centres: Array) -> Array:
        device.assign("centres", np.ascontiguousarray(centres.T))
        device.launch("nearest_centre", grid, THREADS, *arguments)
        return membership.download()

    centres, before = inputs["features"][:clusters], np.full(points, -1, np.int32)
    for _ in range(size["rounds"]):
        now = assign(centres)
        centres = _means(inputs["features"], now, centres)
        if np.array_equal(now, before):
            break
        before = now
    return {"membership": now, "centres": centres}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same rounds, with sums rounded to float32 after each feature as a fused multiply-add does."""
    features = inputs["features"]
    centres, membership = features[: size["clusters"]], np.full(len(features), -1, np.int32)
    columns = np.ascontiguousarray(features.T)
    for _ in range(size["rounds"]):
        now = np.argmin([_distances(columns, centre) for centre in centres], axis=0).astype(np.int32)
        centres = _means(features, now, centres)
        if np.array_equal(now, membership):
            break
        membership = now
    return {"membership": now, "centres": centres}


def _distances(columns: Array, centre: Array) -> Array:
    """float32[points]: squared distances from one centre."""
    total = np.zeros(columns.shape[1], np.float32)
    for column, at in zip(columns, centre, strict=True):
        difference = (column - at).astype(np.float64)
        total = (difference * difference + total).astype(np.float32)
    return total


def _means(features: Array, membership: Array, centres: Array) -> Array:
    """float32[clusters, features]: the mean of each cluster's points; a cluster without points stays where it is."""
    count = np.bincount(membership, minlength=len(centres))
    sums = np.stack([np.bincount(membership, column, len(centres)) for column in features.T], axis=1)
    return np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], centres).astype(np.float32)


WORKLOAD = Workload(
    name="kmeans",
    title="k-means clustering",
    description=(
        "Rounds of k-means clustering. A first kernel turns the table of features round, four features a thread with"
        " strided reads. Then, round by round, each thread finds the nearest centre for one point: two nested loops"
        " over groups of three clusters and over features, the inner one unrolled four times, in which a feature comes"
        " through a one-dimensional texture, and for each of the three a coordinate of the centre from constant memory,"
        " a subtraction and a multiply-add follow. Texture latency and index arithmetic, three long-lived sums; the"
        " host moves the centres between launches."
    ),
    suite="rodinia",
    tags=("float", "memory", "texture", "constant-memory", "several-launches", "iterative"),
    papers=("rc-rsp",),
    originals=("rodinia/kmeans",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"points": 1000, "features": 7, "clusters": 3, "rounds": 3},
        "small": {"points": 332_000, "features": 16, "clusters": 5, "rounds": 2},
        "full": {"points": 494_020, "features": 34, "clusters": 5, "rounds": 5},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The reference rounds twice where the kernel rounds once, which leads to another sum once in 2^29; so memberships
    # are equal, and the means, computed on the host, with them.
    tolerance=Tolerance(),
)
