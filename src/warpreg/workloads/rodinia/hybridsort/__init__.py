"""hybridsort: numbers go to buckets of about equal size, which are sorted by merging vectors of four."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Workload, blocks

BUCKETS = 1024
HISTOGRAM_GRID = 64
THREADS = 128
MERGE_THREADS = 256
SLAB = 4096
"""Numbers for each block that ranks them within their buckets."""
STACKED_BUCKETS, SLICES = 32, 8
"""Buckets of a block that sums over slabs, and how many threads share the slabs of each."""


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
    device.launch("count_bins", HISTOGRAM_GRID, THREADS, source, count, low, high - low, counts)
    limits = device.texture(_limits(counts.download(), low, high), kind="1d")

    slabs = blocks(count, SLAB)
    tickets, slab_counts = device.zeros((count, 2), np.uint16), device.zeros((slabs, BUCKETS), np.uint32)
    totals = device.zeros(BUCKETS, np.uint32)
    device.launch("rank_in_buckets", slabs, THREADS, limits, source, count, tickets, slab_counts)
    grid = BUCKETS // STACKED_BUCKETS
    device.launch("stack_slabs", grid, (STACKED_BUCKETS, SLICES), slab_counts, slabs, totals)

    sizes = totals.download().astype(np.int32)
    vectors = -(-sizes // 4)
    spans = np.stack((np.cumsum(vectors) - vectors, vectors, np.cumsum(sizes) - sizes, sizes), axis=1).astype(np.int32)
    starts = device.upload((4 * np.cumsum(vectors) - sizes).astype(np.uint32))
    lists = [device.upload(np.full((int(vectors.sum()), 4), -np.inf, np.float32)) for _ in range(2)]
    grid = blocks(count, MERGE_THREADS)
    device.launch("scatter", grid, MERGE_THREADS, source, tickets, count, slab_counts, starts, lists[0])

    device.assign("spans", spans)
    merged, result = _merged(device, lists, int(vectors.sum()), int(vectors.max())), device.zeros(count, np.float32)
    device.launch("drop_fillers", BUCKETS, THREADS, merged, result)
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
    device.launch("sort_vectors", blocks(vectors, MERGE_THREADS), MERGE_THREADS, textures[0], lists[1], vectors)
    source, length = 1, 1
    while True:
        pairs = blocks(longest, 2 * length)
        across = min(MERGE_THREADS, 1 << (pairs - 1).bit_length())
        block = (across, MERGE_THREADS // across)
        grid = (blocks(pairs, across), BUCKETS // block[1])
        device.launch("merge_lists", grid, block, textures[source], lists[1 - source], length)
        source, length = 1 - source, 2 * length
        if pairs == 1:
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
        "Numbers are sorted in two stages. A histogram, with two interleaved shared counters a bin that are increased"
        " by atomics, lets the host choose 1024 buckets; blocks find the bucket of each of 4096 numbers by a binary"
        " search of ten dependent texture fetches, unrolled, and its rank there with shared counters; a prefix sum over"
        " the blocks' counts follows, in slices, and the move. Then each bucket is sorted by passes that merge ever"
        " longer lists, one thread a pair of lists, in vectors of four that stay in registers, the next of either list"
        " among them, and go through bitonic networks of minima and maxima. First many short threads, in the end one"
        " long thread a bucket: divergent, with float4 loads through a texture and two dozen live values."
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
