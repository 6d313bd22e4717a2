"""merge-sort: a stable sort of keys with values, in shared memory and then by merging between ranked samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

SHARED_SIZE = 1024
SAMPLE = 128
RANK_BLOCK = 256
KEYS = 65536
"""Keys are below this number."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``keys``: uint32[n] with repetitions, ``values``: uint32[n], their positions."""
    keys = rng.integers(0, KEYS, size["n"], dtype=np.uint32)
    return {"keys": keys, "values": np.arange(size["n"], dtype=np.uint32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Segments of 1024, then of ever twice the length; ``keys`` and ``values``: uint32[n]."""
    n = size["n"]
    now = device.upload(inputs["keys"]), device.upload(inputs["values"])
    later = device.zeros(n, np.uint32), device.zeros(n, np.uint32)
    ranks_a, ranks_b, limits_a, limits_b = (device.zeros(n // SAMPLE, np.uint32) for _ in range(4))

    device.launch("sort_shared", n // SHARED_SIZE, SHARED_SIZE // 2, *later, *now, SHARED_SIZE)
    stride = SHARED_SIZE
    while stride < n:
        now, later = later, now
        threads = n // (2 * SAMPLE)
        shape = stride, n, threads
        rank_grid = blocks(threads, RANK_BLOCK)
        device.launch("rank_samples", rank_grid, RANK_BLOCK, ranks_a, ranks_b, now[0], *shape)
        device.launch("merge_ranks", rank_grid, RANK_BLOCK, limits_a, ranks_a, *shape)
        device.launch("merge_ranks", rank_grid, RANK_BLOCK, limits_b, ranks_b, *shape)
        device.launch("merge_intervals", n // SAMPLE, SAMPLE, *later, *now, limits_a, limits_b, stride, n)
        stride *= 2
    return {"keys": later[0].download(), "values": later[1].download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's stable sort."""
    order = np.argsort(inputs["keys"], kind="stable")
    return {name: inputs[name][order] for name in ("keys", "values")}


WORKLOAD = Workload(
    name="merge-sort",
    title="Merge sort",
    description=(
        "Keys with values, sorted stably. As in the SDK's sample, blocks of 512 threads sort 1024 elements in shared"
        " memory, where each element's place in a merged pair is found by binary search in the other half. Segments"
        " are then merged between samples: one kernel searches for the rank of every 128th key in the other segment,"
        " one merges the ranks, and blocks of 128 threads merge the elementary intervals between them. Binary searches"
        " with divergent selects on a few addresses and bounds; keys and values wait in registers while they run."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "divergence", "partial-warps", "several-launches"),
    papers=("orf-lrf", "regmutex"),
    differences=(
        "RegMutex (Table 4.1) counts 15 registers a thread; here ptxas gives 16 to 21 by kernel for sm_75, as"
        " addresses have 64 bits."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    # A binary search for each element at every level: 131,072 elements are a sample of the blocks of the real shape.
    sizes={
        "tiny": {"n": 4096},
        "small": {"n": 1 << 17},
        "full": {"n": 1 << 22},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
