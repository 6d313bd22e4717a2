"""hotspot: the temperature of a chip over time, a 2D stencil that does several time steps per launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 16
AMBIENT = 80.0

# The chip and the time step of Rodinia's hotspot: 16 mm square, 0.5 mm of silicon.
CHIP_SIDE = 0.016  # m
CHIP_THICKNESS = 0.0005  # m
SPECIFIC_HEAT = 1.75e6  # J / (m^3 K)
CONDUCTIVITY = 100.0  # W / (m K)
CAPACITY_FACTOR = 0.5
HIGHEST_POWER_DENSITY = 3.0e6  # W / m^2
LARGEST_STEP = 0.001  # K


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``temperature``, 80 to 100 degrees, and ``power`` in watts per cell; both float32[rows, cols]."""
    shape = size["rows"], size["cols"]
    temperature = np.float32(AMBIENT) + np.float32(20.0) * rng.random(shape, dtype=np.float32)
    highest_power = np.float32(HIGHEST_POWER_DENSITY * CHIP_SIDE**2 / (size["rows"] * size["cols"]))
    return {"temperature": temperature, "power": highest_power * rng.random(shape, dtype=np.float32)}


def coefficients(size: Size) -> tuple[np.float32, ...]:
    """Heat capacity of a cell, thermal resistances along x, along y and to the package, and the time step."""
    width, height = CHIP_SIDE / size["cols"], CHIP_SIDE / size["rows"]
    capacity = CAPACITY_FACTOR * SPECIFIC_HEAT * CHIP_THICKNESS * width * height
    steepest = HIGHEST_POWER_DENSITY / (CAPACITY_FACTOR * CHIP_THICKNESS * SPECIFIC_HEAT)
    rx = width / (2.0 * CONDUCTIVITY * CHIP_THICKNESS * height)
    ry = height / (2.0 * CONDUCTIVITY * CHIP_THICKNESS * width)
    rz = CHIP_THICKNESS / (CONDUCTIVITY * height * width)
    return tuple(np.float32(number) for number in (capacity, rx, ry, rz, LARGEST_STEP / steepest))


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``steps`` time steps, ``steps_per_launch`` at a time, between two buffers."""
    rows, cols = size["rows"], size["cols"]
    power, now = device.upload(inputs["power"]), device.upload(inputs["temperature"])
    later = device.zeros((rows, cols), np.float32)
    for done in range(0, size["steps"], size["steps_per_launch"]):
        steps = min(size["steps_per_launch"], size["steps"] - done)
        inner = TILE - 2 * steps
        grid = blocks(cols, inner), blocks(rows, inner)
        device.launch("hotspot", grid, (TILE, TILE), power, now, later, rows, cols, steps, *coefficients(size))
        now, later = later, now
    return {"temperature": now.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The stencil on the whole grid at once, in float64."""
    capacity, rx, ry, rz, step = (float(number) for number in coefficients(size))
    power, here = inputs["power"].astype(np.float64), inputs["temperature"].astype(np.float64)
    for _ in range(size["steps"]):
        flow = power + _second_difference(here, 1) / rx + _second_difference(here, 0) / ry + (AMBIENT - here) / rz
        here = here + step / capacity * flow
    return {"temperature": here.astype(np.float32)}


def _second_difference(field: Array, axis: int) -> Array:
    """Sum of the two neighbours along ``axis`` less twice the cell; beyond the edge the field is flat."""
    result = np.zeros_like(field)
    slope = np.diff(field, axis=axis)
    lower, upper = ([slice(None)] * 2 for _ in range(2))
    lower[axis], upper[axis] = slice(None, -1), slice(1, None)
    result[tuple(lower)] += slope
    result[tuple(upper)] -= slope
    return result


WORKLOAD = Workload(
    name="hotspot",
    title="Thermal simulation of a chip",
    description=(
        "An explicit five-point stencil that advances the temperature of a chip under a power map. A block of 16 x 16"
        " threads loads a tile with a halo as wide as the number of time steps of the launch, advances it in shared"
        " memory with a barrier between steps while the exact region shrinks ring by ring, and stores its inside."
        " Neighbours beyond the edge of the chip are clamped. Much index arithmetic, predicates and a dozen values"
        " that live through the loop; a double-precision literal widens the flows along the chip, and four divisions"
        " open the kernel; warps are two rows of 16, partly idle in the halo."
    ),
    suite="rodinia",
    tags=("float", "compute", "shared-memory", "barriers", "f64", "several-launches"),
    papers=("orf-lrf", "rc-rsp"),
    originals=("rodinia/hotspot",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 37, "cols": 45, "steps": 5, "steps_per_launch": 2},
        "small": {"rows": 512, "cols": 500, "steps": 13, "steps_per_launch": 2},
        "full": {"rows": 1024, "cols": 1000, "steps": 40, "steps_per_launch": 2},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A step rounds the temperature once and its small change a few times: 40 steps stay below 40 * 2^-24 = 2.4e-6.
    # Power, the smallest of the four terms, changes the temperature by up to 1e-3 degrees a step, 1e-5 of it.
    tolerance=Tolerance(relative=2.4e-6),
)
