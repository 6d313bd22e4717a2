"""lib: Monte Carlo in a LIBOR market model, values of swaptions and a derivative."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 64
INTERVAL = np.float32(0.25)
FIRST_RATE = 0.05
NOTIONAL = 100.0


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``normals``: float32[steps, paths], the shocks of each path.

    ``volatilities``: float32[rates]; of each option ``maturities``: int32, in intervals, and ``swap_rates``: float32.
    """
    rates, steps, options = size["rates"], size["steps"], size["options"]
    maturities = np.sort(rng.integers(1, rates - steps + 1, options)).astype(np.int32)
    maturities[-1] = rates - steps  # so that the last rate matters
    return {
        "normals": rng.standard_normal((steps, size["paths"]), dtype=np.float32),
        "volatilities": (0.2 + 0.02 * rng.random(rates)).astype(np.float32),
        "maturities": maturities,
        "swap_rates": (0.045 + 0.005 * np.arange(options) % 0.03).astype(np.float32),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; each output float32[paths].

    ``values`` of the portfolio, ``derivatives`` of those by the last forward rate, and ``values_only`` as the kernel
    without the adjoint finds them.
    """
    for name, number in (("rates", size["rates"]), ("steps", size["steps"]), ("options", size["options"])):
        device.assign(name, np.array([number], np.int32))
    device.assign("interval", np.array([INTERVAL]))
    for name in ("maturities", "swap_rates", "volatilities"):
        device.assign(name, inputs[name])
    paths = size["paths"]
    normals = device.upload(inputs["normals"])
    values, derivatives, values_only = (device.zeros(paths, np.float32) for _ in range(3))
    grid = blocks(paths, BLOCK)
    device.launch("paths_and_adjoints", grid, BLOCK, normals, values, derivatives, paths)
    device.launch("paths_only", grid, BLOCK, normals, values_only, paths)
    return {
        "values": values.download(),
        "derivatives": derivatives.download(),
        "values_only": values_only.download(),
    }


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All paths at once in float64; the derivative forwards, by carrying that of each quantity along."""
    steps, rates = size["steps"], size["rates"]
    interval = float(INTERVAL)
    volatilities, normals = inputs["volatilities"].astype(np.float64), inputs["normals"].astype(np.float64)
    rate = np.full((rates, size["paths"]), float(np.float32(FIRST_RATE)))
    slope = np.ones(size["paths"])  # of the last rate by its first value, which acts on no other rate
    for n in range(steps):
        scaled = interval * volatilities[: rates - n - 1, None]
        moving = rate[n + 1 :]
        drift = np.cumsum(scaled * moving / (1 + interval * moving), axis=0)
        growth = np.exp(
            scaled * drift + volatilities[: rates - n - 1, None] * (np.sqrt(interval) * normals[n] - scaled / 2)
        )
        drift_slope = scaled[-1] * slope / (1 + interval * moving[-1]) ** 2
        slope = growth[-1] * (slope + moving[-1] * scaled[-1] * drift_slope)
        rate[n + 1 :] = moving * growth
    values, derivatives = _portfolio(inputs, rate, steps, slope)
    values = values.astype(np.float32)
    return {"values": values, "derivatives": derivatives.astype(np.float32), "values_only": values}


def _portfolio(inputs: Arrays, rate: Array, steps: int, slope: Array) -> tuple[Array, Array]:
    """Values of the swaptions on each path, and derivatives by whatever the last rate has ``slope`` by."""
    interval = float(INTERVAL)
    discounts = 1 / (1 + interval * rate)
    bonds = np.cumprod(discounts[steps:], axis=0)
    annuities = interval * np.cumsum(bonds, axis=0)
    last_bond_slope = -interval * bonds[-1] * discounts[-1] * slope
    value, derivative = np.zeros_like(slope), np.zeros_like(slope)
    for maturity, swap_rate in zip(inputs["maturities"], inputs["swap_rates"].astype(np.float64), strict=True):
        swap = bonds[maturity - 1] + swap_rate * annuities[maturity - 1] - 1
        value += NOTIONAL * np.maximum(-swap, 0)
        if maturity == len(bonds):
            derivative -= NOTIONAL * (swap < 0) * (1 + swap_rate * interval) * last_bond_slope
    today = discounts[:steps].prod(axis=0)
    return today * value, today * derivative


WORKLOAD = Workload(
    name="lib",
    title="LIBOR market model",
    description=(
        "Monte Carlo paths of forward interest rates and the value of a portfolio of swaptions, one thread a path; the"
        " first of two kernels also runs the adjoint of path and portfolio backwards. It undoes the steps: the factors"
        " by which rates grew are kept, 10 KB of local memory a thread, and divided out again. Double loops over rates"
        " that shrink by one each step, unrolled eight times; in each iteration a dozen operations, a fast division and"
        " an exponential. Sums that run along the rates, of drifts, bonds and annuities, are in double precision. One"
        " of them is carried from iteration to iteration, all else is local."
    ),
    suite="ispass",
    tags=("float", "compute", "local-memory", "constant-memory", "sfu", "f64", "iterative", "several-launches"),
    papers=("bow",),
    originals=("ispass/LIB",),
    differences=(
        "The namesake keeps the rates of all steps, 13 KB of local memory a thread, where this keeps the growth of"
        " those that still move; its double precision comes of constants without a suffix, here it is that of running"
        " sums."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    # A path takes hundreds of thousands of instructions: small is 512 of the suite's 4,096 paths.
    sizes={
        "tiny": {"rates": 12, "steps": 5, "options": 4, "paths": 100},
        "small": {"rates": 80, "steps": 40, "options": 15, "paths": 512},
        "full": {"rates": 80, "steps": 40, "options": 15, "paths": 4_096},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Forty fast exponentials, each right to 2^-21, leave a rate right to 2e-5, a bond of forty intervals to 40 * 0.25 *
    # 0.05 * 2e-5 = 1e-5; a hundred times that for one swaption, and less on average over fifteen with some at a loss.
    # On the way back forty fast divisions, right to 2^-22, add half as much to the error of a rate.
    tolerance=Tolerance(relative=1e-4, absolute=1e-3),
)
