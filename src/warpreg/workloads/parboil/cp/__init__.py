"""cp: the Coulombic potential of point charges on a plane of a lattice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

POINTS = 8
BLOCK = (16, 8)
MAX_ATOMS = 4000
SPACING = np.float32(0.1)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``atoms``: float32[atoms, 4], places in the lattice's box and charges from -1 to 1."""
    count = size["atoms"]
    places = rng.random((count, 3)) * (size["width"], size["height"], 80) * float(SPACING)
    return {"atoms": np.column_stack([places, rng.uniform(-1, 1, count)]).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch for every 4000 atoms; ``energies``: float32[height, width], the plane at height zero."""
    width, height = size["width"], size["height"]
    energies = device.zeros((height, width), np.float32)
    grid = (width // (POINTS * BLOCK[0]), height // BLOCK[1])
    for first in range(0, size["atoms"], MAX_ATOMS):
        chunk = inputs["atoms"][first : first + MAX_ATOMS].copy()
        chunk[:, 2] **= 2
        device.assign("atoms", chunk)
        device.launch("potential", grid, BLOCK, len(chunk), SPACING, energies)
    return {"energies": energies.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The sum over all atoms in float64, a row at a time."""
    x, y, z, charge = inputs["atoms"].astype(np.float64).T
    spacing = float(SPACING)
    across = (np.arange(size["width"])[:, None] * spacing - x) ** 2 + z**2
    rows = [(charge / np.sqrt(across + (row * spacing - y) ** 2)).sum(axis=1) for row in range(size["height"])]
    return {"energies": np.array(rows, np.float32)}


WORKLOAD = Workload(
    name="cp",
    title="Coulombic potential",
    description=(
        "The electrostatic potential of point charges on a plane of a lattice. A thread in a block of 16 x 8 computes"
        " eight points of a row and walks over all charges in constant memory: for each it shares the distance across"
        " and adds eight independent terms, a difference, a fused multiply-add, a reciprocal square root and a fused"
        " multiply-add. Eight sums live through the loop; all else is read once or twice, soon after it is made."
    ),
    suite="parboil",
    tags=("float", "compute", "sfu", "constant-memory", "iterative"),
    papers=("orf-lrf", "tfet"),
    originals=("parboil/cp/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    # A thread has eight points: small is 512 x 512 points, 32,768 threads of the suite's shape, and some of its atoms.
    sizes={
        "tiny": {"width": 128, "height": 24, "atoms": 50},
        "small": {"width": 512, "height": 512, "atoms": 200},
        "full": {"width": 512, "height": 512, "atoms": 12_000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A place is right to 2^-23 of 51, so a distance near 0.1 to 6e-5 of it; terms are at most some 10 with z near 0,
    # and 12,000 terms of either sign are summed in float32: a relative error of 2e-4 beside 1e-3 for what cancels.
    tolerance=Tolerance(relative=2e-4, absolute=2e-3),
)
