"""black-scholes: prices of European options in closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtr

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 128
RATE, VOLATILITY = np.float32(0.02), np.float32(0.30)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """float32[2 * pairs] each: ``spot`` 5 to 30, ``strike`` 1 to 100, ``years`` 0.25 to 10, uniform."""
    ranges = {"spot": (5, 30), "strike": (1, 100), "years": (0.25, 10)}
    return {name: rng.uniform(low, high, 2 * size["pairs"]).astype(np.float32) for name, (low, high) in ranges.items()}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` launches over the same options; ``call`` and ``put``: float32[2 * pairs]."""
    pairs = size["pairs"]
    spot, strike, years = (device.upload(inputs[name]) for name in ("spot", "strike", "years"))
    call, put = device.zeros(2 * pairs, np.float32), device.zeros(2 * pairs, np.float32)
    for _ in range(size["rounds"]):
        arguments = (call, put, spot, strike, years, RATE, VOLATILITY, pairs)
        device.launch("black_scholes", blocks(pairs, BLOCK), BLOCK, *arguments)
    return {"call": call.download(), "put": put.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The formula in float64, with the exact normal distribution."""
    spot, strike, years = (inputs[name].astype(np.float64) for name in ("spot", "strike", "years"))
    rate, volatility = float(RATE), float(VOLATILITY)
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - spot * ndtr(-d1)
    return {"call": call.astype(np.float32), "put": put.astype(np.float32)}


WORKLOAD = Workload(
    name="black-scholes",
    title="Black-Scholes option prices",
    description=(
        "Call and put prices of European options by the closed formula. A thread in a block of 128 prices two options"
        " that lie side by side: vector loads of price, strike and time, then two independent chains of logarithm,"
        " exponentials, reciprocals, a reciprocal square root and two polynomials of fifth degree, and two vector"
        " stores. One exponential is the density for both tails, and the put follows by put-call parity. Straight-line"
        " code with many SFU operations and constants as immediates; most values are read once or twice, soon after"
        " they are made."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "sfu", "vector-loads", "several-launches"),
    papers=("orf-lrf", "corf"),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"pairs": 3_001, "rounds": 2},
        "small": {"pairs": 400_003, "rounds": 4},
        "full": {"pairs": 2_000_000, "rounds": 16},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The polynomial is right to 7.5e-8, prices are up to 130: 1e-5. The quick functions add a few 2^-22 to d1 (up to
    # 10), where the density is at most 0.4: 30 * 0.4 * 10 * 2^-21 + 1e-5 = 7e-5 at most. Parity adds two roundings of a
    # put, 2^-18 each at most, where it is nearly 100; there d1 is far from 0 and the density small.
    tolerance=Tolerance(absolute=7e-5),
)
