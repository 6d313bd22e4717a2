"""histogram: how often each byte value occurs, with atomics in shared memory and then in global memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

BLOCK = 256
BINS = 256
WORDS_PER_THREAD = 16


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: uint8[bytes], skewed towards zero like the dark part of a picture: the AND of two random bytes."""
    random = np.frombuffer(rng.bytes(2 * size["bytes"]), dtype=np.uint8).reshape(2, size["bytes"])
    return {"data": random[0] & random[1]}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` launches that all add to the same ``bins``: uint32[256]."""
    count = size["bytes"]
    data, bins = device.upload(inputs["data"]), device.zeros(BINS, np.uint32)
    grid = blocks(count, 4 * WORDS_PER_THREAD * BLOCK)
    for _ in range(size["rounds"]):
        device.launch("histogram", grid, BLOCK, data, bins, count)
    return {"bins": bins.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Bytes counted two at a time, then by the lower and by the upper one, plus the last of an odd number."""
    data = inputs["data"]
    even = data.size & ~1
    pairs = np.bincount(data[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    counts = pairs.sum(axis=0) + pairs.sum(axis=1) + np.bincount(data[even:], minlength=BINS)
    return {"bins": (size["rounds"] * counts).astype(np.uint32)}


WORKLOAD = Workload(
    name="histogram",
    title="256-bin histogram",
    description=(
        "How often each byte value occurs in a stream, added up over several passes. A block of 256 threads walks a"
        " grid-stride loop, loads four bytes at a time and counts them with four shared-memory atomics in 256 bins of"
        " its own; after a barrier it adds its bins to the result with global atomics. The data are skewed, so lanes"
        " of a warp often meet in one bin. Shifts, masks and atomics: integer values that are read once."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "atomics", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"bytes": 40_003, "rounds": 2},
        "small": {"bytes": 16_000_003, "rounds": 7},
        "full": {"bytes": 64_000_003, "rounds": 14},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
