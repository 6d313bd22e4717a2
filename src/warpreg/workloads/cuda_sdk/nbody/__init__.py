"""nbody: gravity between all pairs of bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

TILE = 256
STEP, DAMPING, SOFTENING = np.float32(0.016), np.float32(1.0), np.float32(0.1)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``position``: float32[bodies, 4], x, y, z in a unit ball and mass 1 / bodies; ``velocity`` likewise, small."""
    bodies = size["bodies"]
    directions = rng.normal(size=(bodies, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    places = directions * np.cbrt(rng.random((bodies, 1)))
    position = np.concatenate([places, np.full((bodies, 1), 1 / bodies)], axis=1).astype(np.float32)
    velocity = np.zeros((bodies, 4), np.float32)
    velocity[:, :3] = 0.1 * rng.normal(size=(bodies, 3))
    return {"position": position, "velocity": velocity}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``steps`` launches; ``position`` and ``velocity``: float32[bodies, 4]."""
    bodies = size["bodies"]
    tiles = bodies // TILE
    old, velocity = device.upload(inputs["position"]), device.upload(inputs["velocity"])
    new = device.zeros((bodies, 4), np.float32)
    device.assign("softening_squared", np.array([SOFTENING * SOFTENING], np.float32))
    for _ in range(size["steps"]):
        device.launch("integrate_bodies", tiles, TILE, old, new, velocity, STEP, DAMPING, tiles)
        old, new = new, old
    return {"position": old.download(), "velocity": velocity.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same steps in float64, a few hundred bodies against all at a time."""
    position, velocity = (inputs[name].astype(np.float64) for name in ("position", "velocity"))
    step, damping = float(STEP), float(DAMPING)
    for _ in range(size["steps"]):
        velocity[:, :3] = (velocity[:, :3] + step * _accelerations(position)) * damping
        position[:, :3] += step * velocity[:, :3]
    return {"position": position.astype(np.float32), "velocity": velocity.astype(np.float32)}


def _accelerations(position: Array) -> Array:
    """float64[bodies, 3]: sum of m r / (r^2 + softening^2)^1.5; sums of products leave no large array per pair."""
    places, masses = position[:, :3], position[:, 3]
    squares = (places**2).sum(axis=1)
    result = np.empty_like(places)
    for first in range(0, len(places), TILE):
        some = slice(first, first + TILE)
        distances = squares[some, None] + squares[None, :] - 2 * places[some] @ places.T + float(SOFTENING) ** 2
        scale = masses * distances**-1.5
        result[some] = scale @ places - scale.sum(axis=1, keepdims=True) * places[some]
    return result


WORKLOAD = Workload(
    name="nbody",
    title="All-pairs gravity",
    description=(
        "Bodies that attract each other, advanced step by step. A block of 256 threads takes 256 bodies and walks"
        " over all bodies in tiles of shared memory, of which two alternate, with a barrier a tile. Tiles are stored by"
        " component: the inner loop, unrolled to 128 bodies, takes four at a time with four shared loads of four words"
        " that are the same for the whole warp; each body takes three differences, six fused multiply-adds, a"
        " reciprocal square root and three products. Position and acceleration live through the kernel, sixteen loaded"
        " words until their body's turn, all else is read at once."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "shared-memory", "sfu", "vector-loads", "barriers"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # Work grows with the square of the bodies: small keeps the tile loop and has fewer blocks than two full waves.
    sizes={
        "tiny": {"bodies": 256, "steps": 2},
        "small": {"bodies": 4096, "steps": 1},
        "full": {"bodies": 16384, "steps": 1},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # An acceleration is below 1 / softening^2 = 100 in all, and the tiles' partial sums err by 2^-24 a term at most:
    # bodies * 2^-24 * 100 * step (0.016) = 1.6e-3 at worst, 1e-5 for signs that vary (its square root of bodies).
    tolerance=Tolerance(absolute=2e-5),
)
