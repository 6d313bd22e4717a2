"""monte-carlo: European call options by Monte Carlo integration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtri

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

RATE, VOLATILITY = 0.06, 0.10
NORMAL_GRID, NORMAL_BLOCK, PRICE_BLOCK = 128, 128, 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``options``: float32[options, 4] (spot, strike, drift, volatility), ``uniform``: float32[paths], midpoints.

    Shuffled midpoints of equal intervals of (0, 1) are what quasi-random numbers come near to.
    """
    count, paths = size["options"], size["paths"]
    spot, strike = rng.uniform(5, 50, count), rng.uniform(10, 25, count)
    years = rng.uniform(1, 5, count)
    drift = (RATE - 0.5 * VOLATILITY**2) * years
    options = np.stack([spot, strike, drift, VOLATILITY * np.sqrt(years)], axis=1).astype(np.float32)
    return {"options": options, "uniform": rng.permutation((np.arange(paths) + 0.5) / paths).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; ``samples``: float32[paths], ``expected`` and ``confidence``: float32[options]."""
    paths, count = size["paths"], size["options"]
    device.assign("options", inputs["options"])
    samples, uniform = device.zeros(paths, np.float32), device.upload(inputs["uniform"])
    values = device.zeros((count, 2), np.float32)
    device.launch("make_normal", NORMAL_GRID, NORMAL_BLOCK, samples, uniform, paths // 2)
    device.launch("price_options", count, PRICE_BLOCK, values, samples, paths)
    found = values.download()
    return {
        "samples": samples.download(),
        "expected": found[:, 0].copy(),
        "confidence": found[:, 1].copy(),
    }


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The exact inversion of the normal distribution, and means and deviations in float64."""
    samples = ndtri(inputs["uniform"].astype(np.float64))
    expected, confidence = [], []
    for spot, strike, drift, volatility in inputs["options"].astype(np.float64):
        calls = np.maximum(spot * np.exp(drift + volatility * samples) - strike, 0)
        expected.append(calls.mean())
        confidence.append(1.96 * calls.std(ddof=1) / np.sqrt(samples.size))
    return {
        "samples": samples.astype(np.float32),
        "expected": np.array(expected, np.float32),
        "confidence": np.array(confidence, np.float32),
    }


WORKLOAD = Workload(
    name="monte-carlo",
    title="Monte Carlo option pricing",
    description=(
        "European call options by integration over random paths. A first kernel turns pairs of uniform numbers into"
        " normal ones by Moro's inversion: a rational function in the middle, a logarithm of a logarithm and a"
        " polynomial of degree eight in the tails, so warps diverge. A second one prices an option a block of 256"
        " threads: each runs over its share of the paths, a load, a power of 2 and five additions and products a step,"
        " then the block adds up in shared memory, the payoffs with its first half and their squares with the other."
        " Two sums and three numbers of the option live through the loop."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "sfu", "shared-memory", "constant-memory", "barriers", "divergence"),
    papers=("orf-lrf", "regmutex"),
    source=Path(__file__).with_name("kernel.cu"),
    # One block prices one option, as many as the suite has: 65,536 threads.
    sizes={
        "tiny": {"options": 5, "paths": 3000},
        "small": {"options": 256, "paths": 40_000},
        "full": {"options": 256, "paths": 262_144},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # Moro's formulas are right to 3e-9; a float32 argument near 0 or 1 and quick logarithms leave a few 1e-6, and
        # 1 - p loses digits where p is within 1e-5 of 1: 2^-24 / (1 - p) of a slope below 1 / 3.
        "samples": Tolerance(relative=2e-5, absolute=1e-5),
        # Errors of samples average out; sums of up to 1024 payoffs a thread and eight levels of the tree.
        "expected": Tolerance(relative=1e-4, absolute=1e-4),
        # The difference of two numbers that may be hundreds of times larger than it.
        "confidence": Tolerance(relative=2e-2, absolute=1e-4),
    },
)
