"""myocyte: heart muscle cells under a pulse of current, a system of 91 ordinary differential equations for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.rodinia.myocyte import cell
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 32
STAGES = 13
ERROR = 1e-4
SUBSTEPS = 16

# Totals of calmodulin, its buffer, kinase, calcineurin and phosphatase in the three compartments, in uM.
TOTALS = np.array([[418, 0, 120, 3.6175, 96.5], [5.65, 24.2, 0.0995, 0.003, 0.57], [5.65, 24.2, 0.0995, 0.003, 0.57]])


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """Cells that were held at some potential, with a few per cent between their concentrations.

    ``states``: float32[cells, 91]; ``parameters``: float32[cells, 16], the time between pulses and `TOTALS`.
    """
    cells = size["cells"]
    period = rng.uniform(400, 1000, (cells, 1))
    parameters = np.hstack(
        [period, np.repeat(TOTALS.reshape(1, -1), cells, axis=0) * rng.uniform(0.9, 1.1, (cells, 15))]
    )
    states = held(rng.uniform(-90, 15, cells), parameters.T, rng)
    return {"states": states.T.astype(np.float32), "parameters": parameters.astype(np.float32)}


def held(potential: Array, parameters: Array, rng: np.random.Generator) -> Array:
    """States [91, cells] near rest but for the potential, with gates and buffers in equilibrium."""
    y = np.zeros((cell.EQUATIONS, len(potential)))
    y[cell.V] = potential
    levels = {cell.NA_J: 8.86, cell.NA_SL: 8.86, cell.NA_I: 8.86, cell.K_I: 135, cell.CA_SR: 0.56}
    levels |= {cell.CA_J: 1.8e-4, cell.CA_SL: 1.1e-4, cell.CA_I: 8.9e-5}
    levels |= {cell.RYR_R: 0.89, cell.RYR_O: 8e-7, cell.RYR_I: 1e-7}
    for state, level in levels.items():
        y[state] = level * rng.uniform(0.97, 1.03, len(potential))

    opening, closing = cell.sodium_gates(potential)
    y[cell.M : cell.J + 1] = opening / (opening + closing)
    y[list(cell.GATES)] = cell.other_gates(potential)[0]
    na, ca = y[cell.NA_J : cell.NA_SL + 1], y[cell.CA_J : cell.CA_SL + 1]
    y[cell.FCA_J : cell.FCA_SL + 1] = _share(1.7 * ca, 0.0119)
    y[cell.NAB_J : cell.NAB_SL + 1] = cell.NA_BUFFER * _share(1e-4 * na, 1e-3)
    y[cell.SLL_J : cell.SLL_SL + 1] = cell.SLOW_BUFFER * _share(100 * ca, 1.3)
    y[cell.SLH_J : cell.SLH_SL + 1] = cell.FAST_BUFFER * _share(100 * ca, 0.03)
    y[cell.TNCL] = 0.07 * _share(32.7 * y[cell.CA_I], 0.0196)
    y[cell.TNCHC], y[cell.TNCHM] = 0.118, 0.01
    y[cell.MYOC], y[cell.MYOM] = 0.002, 0.137
    y[cell.SRB] = 0.0171 * _share(100 * y[cell.CA_I], 0.06)
    y[cell.CSQN] = 2.7 * _share(100 * y[cell.CA_SR], 65)
    for number, (first, level) in enumerate(
        ((cell.DYAD, cell.CA_J), (cell.SARCOLEMMA, cell.CA_SL), (cell.CYTOSOL, cell.CA_I))
    ):
        _fill_compartment(
            y[first : first + cell.COMPARTMENT], parameters[5 * number + 1 : 5 * number + 6], 1e3 * y[level]
        )
    return y


def _share(on: Array, off: float) -> Array:
    return on / (on + off)


def _fill_compartment(y: Array, totals: Array, ca: Array) -> None:
    """Calmodulin mostly free, or on its buffer where there is one; calcineurin mostly without calmodulin."""
    calmodulin, buffer, _, calcineurin, _ = totals
    y[0] = np.where(buffer > 0, 0.1, 0.9) * calmodulin
    y[3] = np.where(buffer > 0, 0.8, 0) * calmodulin
    y[1] = y[0] * ca**2 / 10
    y[2] = y[1] * ca**2 / 600
    y[4] = y[3] * ca**2 / 10
    y[5] = y[4] * ca**2 / 600
    y[6] = _share(y[1], 5.0)
    y[7], y[8], y[9], y[10] = 1e-3 * y[6], 1e-4 * y[6], 1e-5 * y[6], 1e-5 * y[6]
    y[11] = calcineurin * _share(2 * ca**2, 1.0)
    y[12], y[13], y[14] = 0.1 * y[11], 0.05 * y[11], 0.02 * y[11]


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``states``: float32[cells, steps + 1, 91], ``times``: float32[cells, steps + 1], in ms."""
    cells, steps = size["cells"], size["steps"]
    start = np.zeros((cells, steps + 1, cell.EQUATIONS), np.float32)
    start[:, 0] = inputs["states"]
    states, times = device.upload(start), device.zeros((cells, steps + 1), np.float32)
    taken = device.zeros((cells, 3), np.float32)
    scratch = [device.zeros((cells, cell.EQUATIONS), np.float32) for _ in range(4)]
    stages = device.zeros((cells, STAGES, cell.EQUATIONS), np.float32)
    device.launch(
        "solve_cells",
        blocks(cells, THREADS),
        THREADS,
        *(
            cells,
            steps,
            interval(size),
            ERROR,
            times,
            states,
            device.upload(inputs["parameters"]),
            taken,
            *scratch,
            stages,
        ),
    )
    return {"states": states.download(), "times": times.download()}


def interval(size: Size) -> np.float32:
    """From one time to the next, in ms."""
    return np.float32(size["microseconds"] / 1000)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The classical Runge-Kutta method of order 4 with sixteen steps where the kernel has one, in float64."""
    parameters = inputs["parameters"].T.astype(np.float64)
    y = inputs["states"].T.astype(np.float64)
    states = [y]
    h = float(interval(size))
    for step in range(size["steps"]):
        y = advanced(step * h, y, parameters, h)
        states.append(y)
    times = np.arange(size["steps"] + 1, dtype=np.float32) * interval(size)
    return {
        "states": np.stack(states).transpose(2, 0, 1).astype(np.float32),
        "times": np.tile(times, (size["cells"], 1)),
    }


def advanced(time: float, y: Array, parameters: Array, duration: float) -> Array:
    """States [91, cells] after ``duration`` ms."""
    h = duration / SUBSTEPS
    for _ in range(SUBSTEPS):
        k1 = cell.rates(time, y, parameters)
        k2 = cell.rates(time + h / 2, y + h / 2 * k1, parameters)
        k3 = cell.rates(time + h / 2, y + h / 2 * k2, parameters)
        k4 = cell.rates(time + h, y + h * k3, parameters)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        time += h
    return y


WORKLOAD = Workload(
    name="myocyte",
    title="Heart muscle cells",
    description=(
        "The currents, ions and proteins of heart muscle cells, 91 ordinary differential equations each, solved by an"
        " embedded Runge-Kutta-Fehlberg method of orders 7 and 8. A thread is a cell. The rates of change are one"
        " straight run of several thousand instructions: single precision states, double precision constants and"
        " exponentials, calls of a general power, and divisions; what one part computes is used far behind, so that"
        " over a hundred registers are alive. Around it a loop over 13 stages with a branch for each, and attempts at"
        " smaller steps that differ from cell to cell. All states lie in global memory, cell by cell, so that the"
        " threads of a warp never touch the same line."
    ),
    suite="rodinia",
    tags=("float", "compute", "f64", "sfu", "divergence"),
    papers=(),
    originals=("rodinia/myocyte",),
    differences=(
        "This is the program for many cells. The one for a single cell evaluates the same rates in a kernel of its"
        " own in two threads of two blocks, launched once a stage, and is not here."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        # A warp takes some 600,000 instructions a step: few cells, in blocks of 32, make a launch long.
        "tiny": {"cells": 41, "steps": 1, "microseconds": 4},
        "small": {"cells": 320, "steps": 1, "microseconds": 16},
        "full": {"cells": 1024, "steps": 20, "microseconds": 16},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A step may err by 1e-4 of a state a millisecond, and by that of a whole step where a potential crosses -40 mV, at
    # which two rates jump; a step rounds some states to 2^-24 a few times. Next to 1e-6 of anything that is noise.
    tolerance={"states": Tolerance(relative=1e-3, absolute=1e-6)},
)
