"""hotspot3d: the temperature of a stack of chips over time, a 3D stencil."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (64, 4)
AMBIENT = 80.0

# The chip and the time step of Rodinia's hotspot3D: 16 mm square, 0.5 mm of silicon a layer.
CHIP_SIDE = 0.016  # m
CHIP_THICKNESS = 0.0005  # m
SPECIFIC_HEAT = 1.75e6  # J / (m^3 K)
CONDUCTIVITY = 100.0  # W / (m K)
CAPACITY_FACTOR = 0.5
HIGHEST_POWER_DENSITY = 3.0e6  # W / m^2
LARGEST_STEP = 0.001  # K


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``temperature``, 80 to 100 degrees, and ``power`` in watts a cell; both float32[layers, rows, cols]."""
    shape = size["layers"], size["rows"], size["cols"]
    highest_power = HIGHEST_POWER_DENSITY * CHIP_SIDE**2 / (size["rows"] * size["cols"])
    return {
        "temperature": (AMBIENT + 20 * rng.random(shape)).astype(np.float32),
        "power": (highest_power * rng.random(shape)).astype(np.float32),
    }


def coefficients(size: Size) -> tuple[np.float32, ...]:
    """Time step over heat capacity; weights of east, west, north, south, top, bottom neighbours and of the cell."""
    dx, dy, dz = CHIP_SIDE / size["rows"], CHIP_SIDE / size["cols"], CHIP_THICKNESS / size["layers"]
    capacity = CAPACITY_FACTOR * SPECIFIC_HEAT * CHIP_THICKNESS * dx * dy
    rx = dy / (2 * CONDUCTIVITY * CHIP_THICKNESS * dx)
    ry = dx / (2 * CONDUCTIVITY * CHIP_THICKNESS * dy)
    rz = dz / (CONDUCTIVITY * dx * dy)
    steepest = HIGHEST_POWER_DENSITY / (CAPACITY_FACTOR * CHIP_THICKNESS * SPECIFIC_HEAT)
    over_capacity = LARGEST_STEP / steepest / capacity
    ce, cn, ct = over_capacity / rx, over_capacity / ry, over_capacity / rz
    centre = 1 - (2 * ce + 2 * cn + 3 * ct)
    return tuple(np.float32(number) for number in (over_capacity, ce, ce, cn, cn, ct, ct, centre))


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a time step, between two buffers; ``temperature``: float32[layers, rows, cols]."""
    layers, rows, cols = size["layers"], size["rows"], size["cols"]
    power, now = device.upload(inputs["power"]), device.upload(inputs["temperature"])
    later = device.zeros((layers, rows, cols), np.float32)
    over_capacity, east, _, north, _, top, *_ = coefficients(size)
    constants = (over_capacity, east, north, top, np.float32(AMBIENT))
    grid = (blocks(cols, BLOCK[0]), blocks(rows, 2 * BLOCK[1]))
    for _ in range(size["steps"]):
        device.launch("hotspot3d", grid, BLOCK, power, now, later, rows, cols, layers, *constants)
        now, later = later, now
    return {"temperature": now.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The stencil on the whole grid at once, in float64."""
    over_capacity, ce, cw, cn, cs, ct, cb, cc = (float(number) for number in coefficients(size))
    power, here = inputs["power"].astype(np.float64), inputs["temperature"].astype(np.float64)
    for _ in range(size["steps"]):
        padded = np.pad(here, 1, mode="edge")
        here = (
            cc * here
            + cw * padded[1:-1, 1:-1, :-2]
            + ce * padded[1:-1, 1:-1, 2:]
            + cn * padded[1:-1, :-2, 1:-1]
            + cs * padded[1:-1, 2:, 1:-1]
            + cb * padded[:-2, 1:-1, 1:-1]
            + ct * padded[2:, 1:-1, 1:-1]
            + over_capacity * power
            + ct * AMBIENT
        )
    return {"temperature": here.astype(np.float32)}


WORKLOAD = Workload(
    name="hotspot3d",
    title="Thermal simulation of a stack of chips",
    description=(
        "An explicit seven-point stencil on a grid of a few layers, one launch a time step. A thread in a block of 64"
        " x 4 owns two columns, in neighbouring rows, and walks through the layers, keeping three temperatures of each"
        " in registers and loading the other neighbours and the power from memory; nothing is shared. The compiler"
        " unrolls the walk. Five coefficients from the constant bank, running positions and six temperatures live"
        " through the kernel."
    ),
    suite="rodinia",
    tags=("float", "memory", "stencil", "several-launches"),
    papers=("regmutex", "rc-rsp"),
    originals=("rodinia/hotspot3D",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 21, "cols": 75, "layers": 5, "steps": 3},
        "small": {"rows": 1280, "cols": 520, "layers": 8, "steps": 3},
        "full": {"rows": 512, "cols": 512, "layers": 8, "steps": 100},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A step rounds temperatures of 100 degrees once and gains, of at most that size, some ten times, and weights err by
    # half a unit: 15 * 2^-24 a step, which the stencil does not amplify: 9e-5 after 100 steps at worst.
    tolerance=Tolerance(relative=9e-5),
)
