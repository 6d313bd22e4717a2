"""hybridsort: numbers go to buckets of about equal size, which are sorted by merging vectors of four."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Workload, blocks

BUCKETS = 1024
HISTOGRAM_GRID, HISTOGRAM_THREADS = 64, 96
BUCKET_THREADS = 32
BAND = 128
"""Numbers for each thread of the bucket kernels."""
PREFIX_THREADS = 128
MERGE_THREADS = 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``values``: float32[numbers], half of them uniform in [0, 1), half normal around 0.6."""
    count = size["numbers"]
    values = rng.random(count, dtype=np.float32)
    hump = rng.normal(0.6, 0.1, count).astype(np.float32)
    return {"values": np.where(rng.random(count) < 0.5, values, hump)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``counts``: uint32[1024], the histogram; ``sorted``: float32[numbers], ascending."""
    values = inputs["values"]
    count, low, high = len(values), values.min(), values.max()
    source, counts = device.upload(values), device.zeros(BUCKETS, np.uint32)
    device.launch("histogram1024", HISTOGRAM_GRID, HISTOGRAM_THREADS, counts, source, low, high, count)
    limits = device.texture(_limits(counts.download(), low, high), kind="1d")

    grid = blocks(count, BUCKET_THREADS * BAND)
    places, block_counts = device.zeros(count, np.int32), device.zeros(grid * BUCKETS, np.uint32)
    totals = device.zeros(BUCKETS, np.uint32)
    device.launch("bucket_count", grid, BUCKET_THREADS, limits, source, places, block_counts, count)
    device.launch("bucket_prefix", BUCKETS // PREFIX_THREADS, PREFIX_THREADS, block_counts, totals, grid)

    sizes = totals.download().astype(np.int32)
    vectors = -(-sizes // 4)
    starts = np.append(0, np.cumsum(vectors)).astype(np.int32)
    fillers = 4 * vectors - sizes
    first = device.upload((4 * starts[:-1] + fillers).astype(np.uint32))
    lists = [device.upload(np.full((starts[-1], 4), -np.inf, np.float32)) for _ in range(2)]
    device.launch("bucket_sort", grid, BUCKET_THREADS, source, places, lists[0], count, block_counts, first)

    device.assign("starts", starts)
    device.assign("final_starts", np.append(0, np.cumsum(sizes)).astype(np.int32))
    device.assign("fillers", fillers)
    merged = _merged(device, lists, int(starts[-1]), int(vectors.max()))
    result = device.zeros(count, np.float32)
    device.launch("merge_pack", (blocks(int(sizes.max()), MERGE_THREADS), BUCKETS), MERGE_THREADS, merged, result)
    return {"counts": counts.download(), "sorted": result.download()}


def _limits(counts: Array, low: float, high: float) -> Array:
    """float32[1024]: the upper end of each bucket, so that the histogram is cut into equal parts."""
    below = np.append(0, np.cumsum(counts, dtype=np.int64))
    edges = np.linspace(float(low), float(high), BUCKETS + 1)
    wanted = below[-1] * np.arange(1, BUCKETS + 1) / BUCKETS
    limits: Array = np.interp(wanted, below, edges).astype(np.float32)
    return limits


def _merged(device: Device, lists: list[Buffer], vectors: int, longest: int) -> Buffer:
    """Sort each vector, then merge lists of 1, 2, 4, .. vectors between two buffers until the longest is done."""
    textures = [device.texture(buffer, kind="1d") for buffer in lists]
    device.launch("merge_first", blocks(vectors, MERGE_THREADS), MERGE_THREADS, textures[0], lists[1], 4 * vectors)
    source, length = 1, 2
    while True:
        threads = blocks(longest, length)
        grid = blocks(threads * BUCKETS, MERGE_THREADS)
        device.launch("merge_pass", grid, MERGE_THREADS, textures[source], lists[1 - source], length, threads)
        source, length = 1 - source, 2 * length
        if threads == 1:
            return lists[source]


def reference(size: Size, inputs: Arrays) -> Arrays:
    """A histogram in float32, and NumPy's sort."""
    values = inputs["values"]
    low, high = values.min(), values.max()
    bins = ((values - low) / (high - low) * np.float32(BUCKETS)).astype(np.int64)
    counts = np.bincount(np.minimum(bins, BUCKETS - 1), minlength=BUCKETS)
    return {"counts": counts.astype(np.uint32), "sorted": np.sort(values)}


WORKLOAD = Workload(
    name="hybridsort",
    title="Bucket sort and merge sort",
    description=(
        "Numbers are sorted in two stages. A histogram, with counters for each warp in shared memory that lanes try"
        " to increase until their own number stays, lets the host choose 1024 buckets; one-warp blocks find the bucket"
        " of each number by a binary search of ten dependent texture fetches, unrolled, and its place with the same"
        " counters; a prefix sum follows and the move. Then each bucket is sorted by passes that merge ever longer"
        " lists, one thread a pair of lists, in vectors of four that stay in registers and go through min-max"
        " networks. First many short threads, in the end one long thread a bucket: divergent, with float4 loads"
        " through a texture and two dozen live values."
    ),
    suite="rodinia",
    tags=("float", "memory", "texture", "divergence", "shared-memory", "constant-memory", "atomics", "vector-loads"),
    papers=("rc-rsp",),
    originals=("rodinia/hybridsort",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"numbers": 20_001}, "small": {"numbers": 1_330_001}, "full": {"numbers": 4_000_000}},
    inputs=make_inputs,
    run=run,
    reference=reference,
)
