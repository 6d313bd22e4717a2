"""molecular-dynamics: atoms under Lennard-Jones forces, gathered from neighbour lists through a texture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 256
SPACING = 1.06
"""Of the lattice from which the atoms have strayed, in units of the atoms' diameter: the density of the liquid."""
CUTOFF = 2.5
REACH_SQUARED = 6
"""Lattice sites squared apart that are neighbours: up to 2.6 diameters, a little beyond the cutoff."""
REPULSION, ATTRACTION = 48.0, 24.0
STEP = 0.001


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """Atoms of a cube in random order, float32[atoms, 4] ``positions`` and ``velocities``, and who is near them.

    ``neighbours``: int32[80, atoms], of which ``counts``: int32[atoms] are valid.
    """
    side = size["side"]
    atoms = side**3
    sites = np.indices((side, side, side)).reshape(3, atoms)
    number_at = rng.permutation(atoms).astype(np.int32)
    jitter = rng.uniform(-0.08, 0.08, (atoms, 3))
    positions, velocities = np.zeros((2, atoms, 4), np.float32)
    positions[number_at, :3] = SPACING * sites.T + jitter
    velocities[:, :3] = rng.standard_normal((atoms, 3))
    neighbours, counts = neighbour_lists(sites, number_at)
    return {"positions": positions, "velocities": velocities, "neighbours": neighbours, "counts": counts}


def neighbour_lists(sites: Array, number_at: Array) -> tuple[Array, Array]:
    """The atoms near each one, the nearest sites first; fewer at the surface of the cube."""
    side = round(len(number_at) ** (1 / 3))
    steps = np.indices((5, 5, 5)).reshape(3, -1) - 2
    squares = (steps**2).sum(axis=0)
    near = steps[:, (squares > 0) & (squares <= REACH_SQUARED)]
    near = near[:, np.argsort((near**2).sum(axis=0), kind="stable")]
    neighbours = np.zeros((near.shape[1], len(number_at)), np.int32)
    counts = np.zeros(len(number_at), np.int32)
    for step in near.T:
        there = sites + step[:, None]
        inside = ((there >= 0) & (there < side)).all(axis=0)
        atoms = number_at[inside]
        neighbours[counts[atoms], atoms] = number_at[np.ravel_multi_index(there[:, inside], (side, side, side))]
        counts[atoms] += 1
    return neighbours, counts


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Forces and a move in every step; the last forces, float32[atoms, 4], and where the atoms are."""
    atoms = len(inputs["counts"])
    names = "positions", "velocities", "neighbours", "counts"
    positions, velocities, neighbours, counts = (device.upload(inputs[name]) for name in names)
    texture = device.texture(positions, "1d")
    force = device.zeros((atoms, 4), np.float32)
    numbers = atoms, np.float32(CUTOFF**2), np.float32(REPULSION), np.float32(ATTRACTION)
    for _ in range(size["steps"]):
        device.launch("forces", blocks(atoms, BLOCK), BLOCK, texture, neighbours, counts, force, *numbers)
        device.launch("move", blocks(atoms, BLOCK), BLOCK, positions, velocities, force, atoms, np.float32(STEP))
    return {"force": force.download(), "positions": positions.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same in float64, one neighbour of all atoms after the other."""
    positions, velocities = (inputs[name].astype(np.float64) for name in ("positions", "velocities"))
    for _ in range(size["steps"]):
        force = np.zeros_like(positions)
        for number, there in enumerate(inputs["neighbours"]):
            away = positions - positions[there]
            squared = np.einsum("ij,ij->i", away, away)
            acts = (squared < CUTOFF**2) & (number < inputs["counts"])
            inverse = 1.0 / np.where(acts, squared, 1.0)
            sixth = inverse * inverse * inverse
            strength = acts * inverse * sixth * (REPULSION * sixth - ATTRACTION)
            force += away * strength[:, None]
        velocities += STEP * force
        positions += STEP * velocities
    return {"force": force.astype(np.float32), "positions": positions.astype(np.float32)}


WORKLOAD = Workload(
    name="molecular-dynamics",
    title="Molecular dynamics",
    description=(
        "Atoms of a liquid under Lennard-Jones forces. As in SHOC's MD a thread is one atom: it runs along its list"
        " of up to 80 neighbours, gathers their positions, four floats each, through a texture at random places, and"
        " adds their force if they are nearer than the cutoff, which diverges, with a reciprocal in the middle. Atoms"
        " at the surface have shorter lists. Position, sum and a strided address live through the loop, the rest is"
        " read within a few instructions. A second kernel, which SHOC has not, moves the atoms."
    ),
    suite="hpc",
    tags=("float", "memory", "texture", "divergence", "vector-loads", "several-launches", "iterative"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # 125,000 atoms, more than SHOC's largest class; 330,000 would take 26 million warp-instructions a step.
    sizes={
        "tiny": {"side": 7, "steps": 2},
        "small": {"side": 50, "steps": 1},
        "full": {"side": 50, "steps": 5},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Every move rounds positions up to 53 by 2^-19 at most: 1e-5 in five steps, and the reference's last rounding. Two
    # atoms 0.85 apart, the nearest, change their force by 6e3 in a unit of distance: 0.12. Forces at the cutoff jump by
    # 0.04.
    tolerance={"force": Tolerance(relative=1e-5, absolute=0.16), "positions": Tolerance(absolute=1.2e-5)},
)
