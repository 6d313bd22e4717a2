"""histogram64: a histogram of 64 bins with counters of each thread's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

BINS, BLOCK, MERGE_BLOCK = 64, 64, 256
MAX_LOADS = 15
"""Loads of a thread, 16 bytes each: 240 counts are less than a byte can overflow with."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: uint8[16 * words4]; the upper six bits are the bin, normally distributed around the middle."""
    values = rng.normal(128, 40, 16 * size["words4"])
    return {"data": np.clip(values, 0, 255).astype(np.uint8)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch that counts and one that merges; ``bins``: uint32[64]."""
    words4 = size["words4"]
    grid = blocks(words4, BLOCK * MAX_LOADS)
    data, partial = device.upload(inputs["data"]), device.zeros(grid * BINS, np.uint32)
    bins = device.zeros(BINS, np.uint32)
    device.launch("histogram64", grid, BLOCK, partial, data, words4)
    device.launch("merge_histograms", BINS, MERGE_BLOCK, bins, partial, grid)
    return {"bins": bins.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's count of the upper six bits."""
    return {"bins": np.bincount(inputs["data"] >> 2, minlength=BINS).astype(np.uint32)}


WORKLOAD = Workload(
    name="histogram64",
    title="64-bin histogram",
    description=(
        "How often each of 64 values occurs in a stream of bytes. A thread in a block of 64 has 64 byte counters of"
        " its own in shared memory, placed so that banks differ; it loads 16 bytes at a time and takes each apart by"
        " shift and mask to load, increment and store a counter. Then each thread adds up one bin, unrolled, and a"
        " second kernel adds up the blocks. Loaded words are read four times, all else once, right after it was made."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "vector-loads"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"words4": 3001},
        "small": {"words4": 700_001},
        "full": {"words4": 4_194_304},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
