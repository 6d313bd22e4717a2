"""wp: cloud microphysics of a weather model, a column of the atmosphere a thread."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.ispass.wp.columns import CLASSES, Columns
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 64
STEP = 60.0
"""Seconds a launch, divided among its substeps."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """The state of the columns, each float32[levels, columns], lowest level first.

    ``temperature`` in K, ``pressure`` in Pa, ``density`` in kg / m^3, ``thickness`` of the levels in m, and ``vapour``,
    ``cloud``, ``ice``, ``rain`` and ``snow`` in kg per kg of air: moist air, with clouds in every other column.
    """
    shape = size["levels"], size["columns"]
    thickness = np.linspace(150, 700, size["levels"])[:, None] * rng.uniform(0.95, 1.05, shape)
    height = np.cumsum(thickness, axis=0)
    temperature = np.maximum(295 - 6.5e-3 * height, 215) + rng.normal(0, 1.5, size["columns"])
    pressure = 1e5 * np.exp(-height / 7800)
    density = pressure / (287 * temperature)
    saturated = 0.622 * 610.78 * np.exp(17.2694 * (temperature - 273.15) / (temperature - 35.86)) / pressure
    vapour = saturated * rng.uniform(0.6, 1.03, shape)
    cloudy = rng.random(size["columns"]) < 0.5
    warm = temperature > 268
    amounts = {
        "cloud": rng.uniform(0, 1.5e-3, shape) * cloudy * (temperature > 245),
        "ice": rng.uniform(0, 3e-4, shape) * cloudy * ~warm,
        "rain": rng.uniform(0, 1e-3, shape) * cloudy * warm,
        "snow": rng.uniform(0, 1e-3, shape) * cloudy * (temperature < 276),
    }
    state = {"temperature": temperature, "pressure": pressure, "density": density, "thickness": thickness}
    return {name: array.astype(np.float32) for name, array in (state | {"vapour": vapour} | amounts).items()}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``launches`` time steps; temperature and classes of water, and ``ground``: float32[columns], kg / m^2 fallen."""
    columns, levels = size["columns"], size["levels"]
    state = [device.upload(inputs[name]) for name in CLASSES]
    fixed = [device.upload(inputs[name]) for name in ("pressure", "density", "thickness")]
    ground = device.zeros(columns, np.float32)
    step = np.float32(STEP / size["substeps"])
    for _ in range(size["launches"]):
        counts = columns, levels, step, size["substeps"]
        device.launch("microphysics", blocks(columns, BLOCK), BLOCK, *state, *fixed, ground, *counts)
    found = {name: buffer.download() for name, buffer in zip(CLASSES, state, strict=True)}
    return {**found, "ground": ground.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All columns and, but for what falls, all levels at once, in float64."""
    columns = Columns({name: array.astype(np.float64) for name, array in inputs.items()})
    for _ in range(size["launches"] * size["substeps"]):
        columns.advance(STEP / size["substeps"])
    found = {name: columns.state[name].astype(np.float32) for name in CLASSES}
    return {**found, "ground": columns.ground.astype(np.float32)}


WORKLOAD = Workload(
    name="wp",
    title="Weather prediction, cloud microphysics",
    description=(
        "Cloud microphysics with vapour, cloud water, rain, cloud ice and snow, one thread a column, as in the"
        " single-moment scheme of a weather model. A long kernel: fall speeds of all levels go to local memory, rain"
        " and snow fall in as many steps as the column's fastest needs, and a loop over levels computes a dozen rates"
        " of growth, evaporation, freezing and melting with powers, roots and exponentials, limits them and updates"
        " six fields. Twenty to thirty values of a cell live through the loop body, most are read two or three times;"
        " branches follow temperature and water, so that neighbouring columns mostly agree."
    ),
    suite="ispass",
    tags=("float", "compute", "sfu", "divergence", "local-memory", "iterative"),
    papers=("bow",),
    source=Path(__file__).with_name("kernel.cu"),
    # A level of a column takes thousands of instructions: small has 8,100 of full's 40,000 columns (200 x 200).
    sizes={
        "tiny": {"columns": 75, "levels": 9, "substeps": 2, "launches": 1},
        "small": {"columns": 8_100, "levels": 28, "substeps": 1, "launches": 1},
        "full": {"columns": 40_000, "levels": 28, "substeps": 1, "launches": 2},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Saturation follows an exponential of up to 17, right to 17 * 2^-23 = 2e-6 of itself, and so vapour and what
    # condenses; an amount that is the difference of others of up to 1e-2 is right to 2e-6 of those. Where a threshold
    # is met within rounding (freezing, a number of steps), a cell goes the other way.
    tolerance=Tolerance(relative=1e-5, absolute=3e-8, fraction=2e-4),
)
