"""rpes: electron repulsion integrals of a molecule by Rys quadrature."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

BLOCK = 64
BLOCKS_A_LAUNCH = 16_384
CONTRACTIONS = ((6, 3, 1), (3, 1))
"""Primitives of the shells of heavy and of light atoms, as in a split-valence basis."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A chain of atoms, heavy and light ones in turn.

    ``shells``: float32[shells, 4], the centre of each shell in bohr and its first primitive; ``counts``:
    int32[shells], its primitives; ``primitives``: float32[primitives, 2], exponents and normalised coefficients.
    """
    shells: list[list[float]] = []
    counts: list[int] = []
    primitives: list[tuple[float, float]] = []
    for atom in range(size["atoms"]):
        centre = np.array([1.9 * atom, atom % 3, 0.5 * (atom % 2)]) + rng.uniform(-0.2, 0.2, 3)
        for shell, count in enumerate(CONTRACTIONS[atom % 2]):
            shells.append([*centre, len(primitives)])
            counts.append(count)
            tightest = 20.0 / 3.0 ** (2 * shell)
            exponents = tightest * 2.5 ** -np.arange(count) * rng.uniform(0.9, 1.1, count)
            coefficients = rng.uniform(0.2, 1.0, count) / count * (2 * exponents / np.pi) ** 0.75
            primitives += list(zip(exponents, coefficients, strict=True))
    return {
        "shells": np.array(shells, np.float32),
        "counts": np.array(counts, np.int32),
        "primitives": np.array(primitives, np.float32),
    }


def _pairs(shells: int) -> tuple[Array, Array]:
    """All i >= j, pair by pair."""
    first, second = np.tril_indices(shells)
    return first, second


def work_list(counts: Array) -> tuple[Array, Array]:
    """The blocks of all integrals (ij|kl), i >= j, k >= l, ij >= kl, each a pair of pairs.

    uint32[blocks, 4]: shells of two pairs, first quartet of primitives, and how many primitives each shell has;
    uint32[integrals, 2]: first block of each integral, and one behind the last.
    """
    first, second = _pairs(len(counts))
    left, right = _pairs(len(first))
    shells = np.stack([first[left], second[left], first[right], second[right]])
    of_shells = counts[shells].astype(np.uint32)
    needed = -(-counts[shells].prod(axis=0) // BLOCK)
    ends = np.cumsum(needed)
    integral = np.repeat(np.arange(len(left)), needed)
    packed = of_shells[0] | of_shells[1] << 8 | of_shells[2] << 16 | of_shells[3] << 24
    work = np.stack([shells[0] | shells[1] << 16, shells[2] | shells[3] << 16, np.zeros_like(ends), packed])[
        :, integral
    ]
    work[2] = BLOCK * (np.arange(ends[-1]) - (ends - needed)[integral])
    return work.T.astype(np.uint32), np.column_stack([ends - needed, ends]).astype(np.uint32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Launches of up to 16,384 blocks, then one block an integral adds up; ``integrals``: float32[integrals]."""
    work, ranges = work_list(inputs["counts"])
    shells = device.texture(inputs["shells"], kind="1d")
    primitives = device.texture(inputs["primitives"], kind="1d")
    on_device, sums = device.upload(work), device.zeros(len(work), np.float32)
    for first in range(0, len(work), BLOCKS_A_LAUNCH):
        grid = min(BLOCKS_A_LAUNCH, len(work) - first)
        device.launch("integrals", grid, BLOCK, on_device, sums, first, shells, primitives)
    integrals, count = device.zeros(len(ranges), np.float32), len(ranges)
    bounds = device.upload(ranges)
    for first in range(0, count, BLOCKS_A_LAUNCH):
        grid = min(BLOCKS_A_LAUNCH, count - first)
        device.launch("reduce", grid, BLOCK, sums, integrals, bounds, first, count)
    return {"integrals": integrals.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Every pair of primitives with every other in float64, the weight as an error function, which SciPy has."""
    from scipy.special import erf

    pairs = _primitive_pairs(inputs)
    exponent, centre, factor, starts = pairs
    rows = []
    for begin, end in zip(starts, [*starts[1:], len(exponent)], strict=True):
        some = slice(begin, end)
        both = exponent[some, None] + exponent
        apart = ((centre[some, None] - centre) ** 2).sum(axis=2)
        root = np.sqrt(np.maximum(exponent[some, None] * exponent / both * apart, 1e-14))
        weight = 0.5 * np.sqrt(np.pi) * erf(root) / root
        quartets = 2 * np.pi**2.5 / (exponent[some, None] * exponent * np.sqrt(both)) * weight * factor
        rows.append(np.add.reduceat(factor[some] @ quartets, starts))
    return {"integrals": np.array(rows)[_pairs(len(starts))].astype(np.float32)}


def _primitive_pairs(inputs: Arrays) -> tuple[Array, Array, Array, Array]:
    """Exponent, centre and factor of each product of two primitives, and where each pair of shells starts."""
    shells, counts = inputs["shells"].astype(np.float64), inputs["counts"]
    primitives = inputs["primitives"].astype(np.float64)
    exponents, centres, factors = [], [], []
    for i, j in zip(*_pairs(len(counts)), strict=True):
        one, other = (primitives[int(shells[k, 3]) :][: counts[k]] for k in (i, j))
        a, b = one[:, None, 0], other[:, 0]
        overlap = np.exp(-a * b / (a + b) * ((shells[i, :3] - shells[j, :3]) ** 2).sum())
        exponents.append((a + b).ravel())
        factors.append((overlap * one[:, None, 1] * other[:, 1]).ravel())
        weighted = a[..., None] * shells[i, :3] + b[:, None] * shells[j, :3]
        centres.append((weighted / (a + b)[..., None]).reshape(-1, 3))
    sizes = np.array([len(some) for some in exponents])
    return np.concatenate(exponents), np.concatenate(centres), np.concatenate(factors), np.cumsum(sizes) - sizes


WORKLOAD = Workload(
    name="rpes",
    title="Electron repulsion integrals",
    description=(
        "Two-electron repulsion integrals between the contracted s functions of a chain of atoms, by Rys quadrature."
        " A thread in a block of 64 takes one quartet of primitive functions: integer divisions unravel its number,"
        " eight texture fetches bring centres and exponents, four exponents and twelve coordinates live at once, then"
        " one of six polynomials in a row of branches gives the weight, and a tree in shared memory adds up the block."
        " Integrals have from one to 1296 quartets, so blocks are ragged; a second kernel adds blocks per integral."
    ),
    suite="parboil",
    tags=("float", "compute", "texture", "sfu", "shared-memory", "divergence", "partial-warps", "several-launches"),
    papers=("orf-lrf",),
    originals=("parboil/rpes/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"atoms": 2},
        "small": {"atoms": 5},
        "full": {"atoms": 8},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # All terms are positive. An argument of exp up to 40 is right to 4 * 2^-24 of itself, so a term to 1e-5 where it is
    # e^-40; the weight's argument is as wrong but matters less, and products and sums add 20 * 2^-24.
    tolerance=Tolerance(relative=1e-5, absolute=1e-12),
)
