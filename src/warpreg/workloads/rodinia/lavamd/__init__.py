"""lavamd: potential and forces between particles of neighbouring boxes, in double precision."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

PARTICLES = 100
THREADS = 128
ALPHA = 0.5
A_NEIGHBOUR = np.dtype(
    [("x", np.int32), ("y", np.int32), ("z", np.int32), ("number", np.int32), ("offset", np.int64)], align=True
)
A_BOX = np.dtype([*A_NEIGHBOUR.descr, ("neighbours", np.int32), ("neighbour", A_NEIGHBOUR, 26)], align=True)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``place``: float64[particles, 4], v, x, y and z, and ``charge``: float64[particles]; tenths from 0.1 to 1."""
    particles = size["side"] ** 3 * PARTICLES
    return {
        "place": rng.integers(1, 11, (particles, 4)) / 10,
        "charge": rng.integers(1, 11, particles) / 10,
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``force``: float64[particles, 4], the potential and the three components of the force."""
    boxes = _boxes(size["side"])
    place, charge = device.upload(inputs["place"]), device.upload(inputs["charge"])
    force = device.zeros(inputs["place"].shape, np.float64)
    described = device.upload(boxes.view(np.uint8))
    device.launch("forces_in_boxes", len(boxes), THREADS, ALPHA, len(boxes), described, place, charge, force)
    return {"force": force.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Box by box: all its particles against all of its neighbourhood."""
    place = inputs["place"].reshape(-1, PARTICLES, 4)
    charge = inputs["charge"].reshape(-1, PARTICLES)
    force = np.empty_like(place)
    for box, around in enumerate(neighbourhoods(size["side"])):
        near = [box, *around]
        force[box] = _forces(place[box], place[near].reshape(-1, 4), charge[near].ravel())
    return {"force": force.reshape(-1, 4)}


def _forces(home: Array, other: Array, charge: Array) -> Array:
    """float64[home, 4]: what the particles ``other`` do to those of ``home``."""
    squared = home[:, None, 0] + other[None, :, 0] - home[:, 1:] @ other[:, 1:].T
    strength = charge * np.exp(-2 * ALPHA**2 * squared)
    total = strength.sum(axis=1)
    pull = 2 * (home[:, 1:] * total[:, None] - strength @ other[:, 1:])
    return np.column_stack((total, pull))


def neighbourhoods(side: int) -> list[list[int]]:
    """The numbers of the boxes around each box of a cube, without itself; x runs fastest."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
    return [
        [
            ((z + dz) * side + y + dy) * side + x + dx
            for dz, dy, dx in steps
            if all(0 <= at < side for at in (z + dz, y + dy, x + dx))
        ]
        for z, y, x in itertools.product(range(side), repeat=3)
    ]


def _boxes(side: int) -> Array:
    """The boxes as the kernel reads them: their place, the first of their particles, and their neighbours."""
    boxes = np.zeros(side**3, A_BOX)
    numbers = np.arange(side**3)
    boxes["x"], boxes["y"], boxes["z"] = numbers % side, numbers // side % side, numbers // side**2
    boxes["number"], boxes["offset"] = numbers, numbers * PARTICLES
    for box, around in zip(boxes, neighbourhoods(side), strict=True):
        box["neighbours"] = len(around)
        box["neighbour"][: len(around)] = boxes[list(A_NEIGHBOUR.names or ())][around]
    return boxes


WORKLOAD = Workload(
    name="lavamd",
    title="Particles in boxes",
    description=(
        "The potential and the forces between particles in a cube of boxes of 100, where only those in the same box"
        " and in the 26 around it count. A block of 128 threads has one box, its last 28 threads idle; the box's"
        " particles and those of one neighbour after the other lie in shared memory. The inner loop is an exponential"
        " in double precision, with its polynomial written out in multiply-adds, and four sums; every value is a"
        " register pair, and the unrolled loop holds many of them at once. Launches of the small size have only 27"
        " blocks, because each takes a fifth to half a million warp-instructions."
    ),
    suite="rodinia",
    tags=("float", "compute", "f64", "shared-memory", "barriers", "partial-warps"),
    papers=("regmutex", "rc-rsp"),
    originals=("rodinia/lavaMD",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"side": 2}, "small": {"side": 3}, "full": {"side": 10}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Sums of up to 2700 terms, in the order of the boxes and of NumPy: 2700 * 2^-53 = 3e-13 of the sum of magnitudes,
    # which is the potential's own size, below 3000, and at most twice that for a force.
    tolerance=Tolerance(relative=3e-13, absolute=2e-9),
)
