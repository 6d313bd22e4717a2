"""cutcp: the Coulombic potential of atoms on a lattice, with a cutoff radius."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

BLOCK = (8, 2, 8)
SIDE = 8
SPACING = 0.5
BIN_DEPTH = 8
BIN_LENGTH = SIDE * SPACING
ATOM_DISTANCE = 2.15
"""Of atoms in water: a tenth of an atom in a cubic angstrom."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``atoms``: float32[n, 4], places in angstrom and charges as in water, in a box a cutoff wider than the lattice.

    The lattice starts at the origin. Atoms lie around the points of a grid, so that they are as dense everywhere.
    """
    margin = _margin(size)
    axes = [np.arange(-margin + 1, BIN_LENGTH * size[f"regions_{axis}"] + margin - 1, ATOM_DISTANCE) for axis in "xyz"]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    places = grid + rng.uniform(-0.8, 0.8, grid.shape)
    charges = rng.choice([-0.834, 0.417, 0.417], len(places))
    return {"atoms": np.column_stack([places, charges]).astype(np.float32)}


def _margin(size: Size) -> float:
    """How far atoms beyond the lattice act, in whole bins."""
    return BIN_LENGTH * -(-size["cutoff"] // BIN_LENGTH)


def _regions(size: Size) -> tuple[int, int, int]:
    return size["regions_z"], size["regions_y"], size["regions_x"]


def neighbour_list(cutoff: float) -> Array:
    """int32[n, 3]: offsets (x, y, z) of the bins that come nearer than ``cutoff`` to the bin of a region."""
    reach = int(-(-cutoff // BIN_LENGTH))
    offsets = np.array(list(product(range(-reach, reach + 1), repeat=3)), np.int32)
    gap = BIN_LENGTH * np.maximum(np.abs(offsets) - 1, 0)
    near: Array = offsets[(gap**2).sum(axis=1) < cutoff**2]
    return near


def binned(size: Size, atoms: Array) -> tuple[Array, Array]:
    """float32[z, y, x, 8, 4], the first eight atoms of each bin and zeros, and the atoms that found no place."""
    margin = int(_margin(size) / BIN_LENGTH)
    shape = tuple(count + 2 * margin for count in _regions(size))
    z, y, x = (np.floor(atoms[:, axis] / BIN_LENGTH).astype(int) + margin for axis in (2, 1, 0))
    bin_of = np.ravel_multi_index((z, y, x), shape)
    order = np.argsort(bin_of, kind="stable")
    sorted_bins = bin_of[order]
    depth = np.arange(order.size) - np.searchsorted(sorted_bins, sorted_bins)
    kept = depth < BIN_DEPTH
    bins = np.zeros((int(np.prod(shape)), BIN_DEPTH, 4), np.float32)
    bins[sorted_bins[kept], depth[kept]] = atoms[order[kept]]
    return bins.reshape(*shape, BIN_DEPTH, 4), atoms[order[~kept]]


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch for each layer of regions, then the host adds the atoms that no bin had a place for.

    ``potential``: float32[z, y, x, 8, 8, 8], by regions.
    """
    bins, left_over = binned(size, inputs["atoms"])
    margin = int(_margin(size) / BIN_LENGTH)
    # Offsets count from the padded corner, so that no bin has a negative place.
    offsets = neighbour_list(size["cutoff"]) + np.int32(margin)
    device.assign("neighbours", np.array([len(offsets)], np.int32))
    device.assign("offsets", offsets)

    on_device, potential = device.upload(bins), device.zeros((*_regions(size), SIDE, SIDE, SIDE), np.float32)
    cutoff2 = np.float32(size["cutoff"] ** 2)
    numbers = np.float32(SPACING), cutoff2, np.float32(1) / cutoff2
    grid = size["regions_x"], size["regions_y"]
    for layer in range(size["regions_z"]):
        device.launch(
            "cutoff_potential", grid, BLOCK, bins.shape[2], bins.shape[1], on_device, *numbers, potential, layer
        )
    return {"potential": (potential.download() + potential_of(size, left_over)).astype(np.float32)}


def potential_of(size: Size, atoms: Array) -> Array:
    """float64[z, y, x, 8, 8, 8]: every atom near a region with every point of it."""
    potential = np.zeros((*_regions(size), SIDE**3))
    points = np.indices((SIDE, SIDE, SIDE)).reshape(3, -1).T[:, ::-1] * SPACING
    cutoff = size["cutoff"]
    for region in np.ndindex(_regions(size)):
        places = points + BIN_LENGTH * np.array(region[::-1])
        inside = (atoms[:, :3] > places[0] - cutoff) & (atoms[:, :3] < places[-1] + cutoff)
        near = atoms[inside.all(axis=1)].astype(np.float64)
        if near.size:
            distance2 = ((places[:, None, :] - near[:, :3]) ** 2).sum(axis=2)
            smooth = np.maximum(1 - distance2 / cutoff**2, 0)
            potential[region] = (smooth**2 / np.sqrt(distance2)) @ near[:, 3]
    return potential.reshape(*_regions(size), SIDE, SIDE, SIDE)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All atoms directly, without bins."""
    return {"potential": potential_of(size, inputs["atoms"]).astype(np.float32)}


WORKLOAD = Workload(
    name="cutcp",
    title="Coulombic potential with a cutoff",
    description=(
        "The electrostatic potential of the atoms of water on a lattice, each atom acting within 12 angstrom. A block"
        " of 8 x 2 x 8 threads owns a region of 8 x 8 x 8 points, a thread four of them. The block walks over the bins"
        " within reach, a list of offsets in constant memory, and brings 32 bins at a time into shared memory, a warp"
        " one bin. For each atom a thread shares the distance across, leaves early if it is too far, and adds up to"
        " four terms of a reciprocal square root and a smoothing factor. Four sums and the point's coordinates live"
        " through all loops. The host adds atoms of overfull bins."
    ),
    suite="parboil",
    tags=("float", "compute", "shared-memory", "constant-memory", "sfu", "divergence", "barriers", "several-launches"),
    papers=("regmutex",),
    originals=("parboil/cutcp/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small has the suite's cutoff and density, but 24 regions of them: a region alone takes 200,000 warp-instructions.
    sizes={
        "tiny": {"regions_x": 2, "regions_y": 1, "regions_z": 1, "cutoff": 4},
        "small": {"regions_x": 4, "regions_y": 3, "regions_z": 2, "cutoff": 12},
        "full": {"regions_x": 6, "regions_y": 6, "regions_z": 4, "cutoff": 12},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Lattice points are exact and so, nearly, are differences to near atoms: a term is right to 6 * 2^-24 of itself.
    # Magnitudes of terms add up to some 100, and some 700 of them are summed.
    tolerance=Tolerance(relative=2e-6, absolute=1e-4),
)
