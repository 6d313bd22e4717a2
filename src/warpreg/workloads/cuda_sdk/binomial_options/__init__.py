"""binomial-options: European call options on a binomial tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

CACHE_SIZE = 256
RATE, VOLATILITY = 0.06, 0.10


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """float32[options] each: ``spot`` 5 to 30, ``strike`` 1 to 100, ``years`` 0.25 to 10, uniform."""
    ranges = {"spot": (5, 30), "strike": (1, 100), "years": (0.25, 10)}
    return {name: rng.uniform(low, high, size["options"]).astype(np.float32) for name, (low, high) in ranges.items()}


def option_table(inputs: Arrays, steps: int) -> Array:
    """float32[options, 5]: spot, strike, volatility a step, and the discounted probabilities of up and down."""
    step = inputs["years"].astype(np.float64) / steps
    move = VOLATILITY * np.sqrt(step)
    growth = np.exp(RATE * step)
    up, down = np.exp(move), np.exp(-move)
    probability = (growth - down) / (up - down)
    columns = (inputs["spot"], inputs["strike"], move, probability / growth, (1 - probability) / growth)
    return np.stack(columns, axis=1).astype(np.float32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``values``: float32[options]."""
    options, steps = size["options"], size["steps"]
    device.assign("options", option_table(inputs, steps))
    values, buffer = device.zeros(options, np.float32), device.zeros(options * (steps + 16), np.float32)
    device.launch("binomial_options", options, CACHE_SIZE, values, buffer, steps)
    return {"values": values.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same tree in float64, level by level, all options at once."""
    steps = size["steps"]
    spot, strike, move, up, down = option_table(inputs, steps).astype(np.float64).T[:, :, None]
    level = np.maximum(spot * np.exp(move * (2 * np.arange(steps + 1) - steps)) - strike, 0)
    for _ in range(steps):
        level = up * level[:, 1:] + down * level[:, :-1]
    return {"values": level[:, 0].astype(np.float32)}


WORKLOAD = Workload(
    name="binomial-options",
    title="Binomial option pricing",
    description=(
        "European call options on a binomial tree. A block of 256 threads prices one option: it computes the leaves"
        " with an exponential each, then walks the tree back, 32 levels at a time for 256 nodes in shared memory,"
        " between two buffers and with a barrier before each level. The inner loop, unrolled by the compiler, is two"
        " shared loads, a product, a fused multiply-add and a shared store; probabilities from constant memory and"
        " addresses live through the kernel."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "shared-memory", "constant-memory", "barriers", "iterative"),
    papers=("orf-lrf", "tfet"),
    source=Path(__file__).with_name("kernel.cu"),
    # Work grows with the square of the steps, which are a multiple of 32: small has 150 blocks only, each long.
    sizes={
        "tiny": {"options": 3, "steps": 256},
        "small": {"options": 150, "steps": 512},
        "full": {"options": 128, "steps": 2048},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Each level multiplies positive numbers by up + down = 1 / growth and rounds twice: below 2 steps 2^-24, 2.5e-4 at
    # 2048 steps. Leaves near the strike err by 2^-22 of spot times the largest factor, below 1e-4.
    tolerance=Tolerance(relative=2.5e-4, absolute=1e-4),
)
