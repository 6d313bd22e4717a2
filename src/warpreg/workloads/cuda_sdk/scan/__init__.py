"""scan: exclusive prefix sums of short and of large arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload

THREADS = 256
BLOCK_ELEMENTS = 4 * THREADS
"""Elements that a block scans."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``values``: uint32[arrays, length], any numbers: sums wrap around."""
    return {"values": rng.integers(0, 2**32, (size["arrays"], size["length"]), dtype=np.uint32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``short``: arrays of ``short`` elements, then ``large``: of ``length``; uint32[arrays, length] each."""
    arrays, length, short_length = size["arrays"], size["length"], size["short"]
    grid = arrays * length // BLOCK_ELEMENTS
    values = device.upload(inputs["values"])
    short, large = (device.zeros((arrays, length), np.uint32) for _ in range(2))
    short_totals = device.zeros(arrays * length // short_length, np.uint32)
    device.launch("scan_arrays", grid, THREADS, values, short, short_totals, (short_length // 4).bit_length() - 1)

    blocks_an_array = length // BLOCK_ELEMENTS
    totals = device.zeros(grid, np.uint32)
    device.launch("scan_arrays", grid, THREADS, values, large, totals, THREADS.bit_length() - 1)
    device.launch("scan_totals", arrays, THREADS, totals, blocks_an_array)
    device.launch("add_what_comes_before", (blocks_an_array - 1, arrays), THREADS, large, totals)
    return {"short": short.download(), "large": large.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's cumulative sums modulo 2^32."""
    values = inputs["values"]
    short = exclusive_sums(values.reshape(-1, size["short"])).reshape(values.shape)
    return {"short": short, "large": exclusive_sums(values)}


def exclusive_sums(rows: Array) -> Array:
    """uint32: in each row, the sum of what comes before."""
    return np.cumsum(rows, axis=1, dtype=np.uint32) - rows


WORKLOAD = Workload(
    name="scan",
    title="Prefix sums",
    description=(
        "Exclusive prefix sums, first of many short arrays, then of large ones in three launches: blocks of 1024"
        " elements, the totals of the blocks, and their addition to every block but an array's first. A thread loads"
        " four elements as a vector and sums them; the block then scans 256 sums in shared memory, where threads add"
        " what others have at distances that halve from 128 to 1, in two rows that alternate, a barrier a step. The"
        " four elements and their sums live across the loop of barriers, everything else is short-lived index"
        " arithmetic."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "vector-loads", "several-launches"),
    papers=("tfet",),
    source=Path(__file__).with_name("kernel.cu"),
    # A block scans the totals of an array: at most 256 blocks of 1024 elements. Short lengths are powers of two.
    sizes={
        "tiny": {"arrays": 3, "length": 4096, "short": 64},
        "small": {"arrays": 12, "length": 131_072, "short": 256},
        "full": {"arrays": 52, "length": 262_144, "short": 1024},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
