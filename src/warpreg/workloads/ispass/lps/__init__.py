"""lps: Jacobi steps of the Laplace equation on a 3D grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (32, 4)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``field``: float32[nz, ny, nx], noise in [0, 1) inside and on the faces."""
    return {"field": rng.random((size["nz"], size["ny"], size["nx"]), dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``steps`` launches between two buffers whose rows are padded to whole warps."""
    nx, ny, nz = size["nx"], size["ny"], size["nz"]
    pitch = blocks(nx, BLOCK[0]) * BLOCK[0]
    padded = np.zeros((nz, ny, pitch), np.float32)
    padded[:, :, :nx] = inputs["field"]
    now, later = device.upload(padded), device.zeros(padded.shape, np.float32)
    for _ in range(size["steps"]):
        device.launch("laplace", (blocks(nx, BLOCK[0]), blocks(ny, BLOCK[1])), BLOCK, nx, ny, nz, pitch, now, later)
        now, later = later, now
    return {"field": np.ascontiguousarray(now.download()[:, :, :nx])}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The mean of six neighbours, in float64, on the whole grid at once."""
    field = inputs["field"].astype(np.float64)
    for _ in range(size["steps"]):
        after = field.copy()
        across = field[1:-1, 1:-1, :-2] + field[1:-1, 1:-1, 2:]
        along = field[1:-1, :-2, 1:-1] + field[1:-1, 2:, 1:-1]
        after[1:-1, 1:-1, 1:-1] = (across + along + field[:-2, 1:-1, 1:-1] + field[2:, 1:-1, 1:-1]) / 6
        field = after
    return {"field": field.astype(np.float32)}


WORKLOAD = Workload(
    name="lps",
    title="Laplace solver in three dimensions",
    description=(
        "Jacobi steps of the Laplace equation with fixed values on the faces of the grid, one launch each. A block of"
        " 32 x 4 threads marches upwards through a column of the grid with three planes of its tile and their halo in"
        " shared memory; at each step all move down by one and the plane above is loaded, the halo by 76 of the 128"
        " threads. Two barriers a step. Addresses and bounds live through the loop; the six neighbours are added as"
        " they are loaded, so that nearly all else is read once, at once."
    ),
    suite="ispass",
    tags=("float", "memory", "shared-memory", "barriers", "divergence", "iterative", "several-launches"),
    papers=("bow", "tfet"),
    originals=("ispass/LPS",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"nx": 45, "ny": 11, "nz": 7, "steps": 3},
        "small": {"nx": 600, "ny": 555, "nz": 9, "steps": 1},
        "full": {"nx": 100, "ny": 100, "nz": 100, "steps": 20},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A step adds six positive numbers and multiplies: at most 7 roundings of 2^-24 of the result, averaged over steps.
    tolerance=Tolerance(relative=1e-5),
)
