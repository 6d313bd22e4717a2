"""dwt-haar1d: the one-dimensional Haar wavelet transform."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

BLOCK_LOG2 = 9
"""A block has at most 2^9 threads and takes two elements a thread."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``signal``: float32[2^log2_length], white noise, whose coefficients are alike on all levels."""
    return {"signal": rng.normal(size=1 << size["log2_length"]).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` times the whole transform; ``result``: float32, approximation first, then details, coarse to fine."""
    length = 1 << size["log2_length"]
    signal, result = device.upload(inputs["signal"]), device.zeros(length, np.float32)
    halves = [device.zeros(length // 2, np.float32) for _ in range(2)]
    for _ in range(size["rounds"]):
        source, left = signal, size["log2_length"]
        target, other = halves
        while left:
            levels = min(left, BLOCK_LOG2 + 1)
            threads = 1 << (levels - 1)
            grid = 1 << (left - levels)
            arguments = (source, result, target, levels, 1 << left, threads)
            device.launch("dwt_haar1d", grid, threads, *arguments, shared_bytes=4 * (2 * threads + threads // 16 + 1))
            source, target, other = target, other, target
            left -= levels
    found = result.download()
    found[0] = source.download().reshape(-1)[0]
    return {"result": found}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Level by level in float64."""
    signal: Array = inputs["signal"].astype(np.float64)
    result = np.empty_like(signal)
    while signal.size > 1:
        half = signal.size // 2
        first, second = signal[0::2], signal[1::2]
        result[half : 2 * half] = (first - second) * np.sqrt(0.5)
        signal = (first + second) * np.sqrt(0.5)
    result[0] = signal[0]
    return {"result": result.astype(np.float32)}


WORKLOAD = Workload(
    name="dwt-haar1d",
    title="Haar wavelet transform",
    description=(
        "The Haar wavelet transform of a long signal. A block of 512 threads takes 1024 elements through ten levels:"
        " pairs become a sum and a difference, details go to global memory, sums stay in shared memory, where a padded"
        " layout avoids bank conflicts. With every level half of the remaining threads stop, with a barrier between"
        " levels. Index arithmetic around two loads and a handful of floating-point operations; a few addresses live"
        " through the loop."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "shared-memory", "barriers", "partial-warps", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"log2_length": 12, "rounds": 1},
        "small": {"log2_length": 20, "rounds": 2},
        "full": {"log2_length": 22, "rounds": 4},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # All coefficients are normally distributed and below 8; two roundings a level, 22 levels: 44 * 8 * 2^-24.
    tolerance=Tolerance(absolute=2.1e-5),
)
