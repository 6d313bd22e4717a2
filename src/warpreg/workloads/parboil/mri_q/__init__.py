"""mri-q: the matrix Q of a magnetic resonance image reconstruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.parboil import k_space, phases
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

PAIRS_A_LAUNCH = 512
MAGNITUDE_BLOCK, BLOCK = 512, 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``k``: float32[samples, 3] in k-space, ``phi``: float32[samples, 2], ``places``: float32[voxels, 3]."""
    return k_space(size, rng)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Magnitudes, then a launch for every 1024 samples; ``magnitude``: float32[samples], ``q``: float32[2, voxels]."""
    samples, voxels = size["samples"], size["voxels"]
    phi, magnitude = device.upload(inputs["phi"]), device.zeros(samples, np.float32)
    device.launch("magnitudes", blocks(samples, MAGNITUDE_BLOCK), MAGNITUDE_BLOCK, phi, magnitude, samples)
    magnitudes = magnitude.download()
    table = np.zeros((blocks(samples, 2), 2, 4), np.float32)
    table.reshape(-1, 4)[:samples] = np.column_stack([inputs["k"], magnitudes])

    places = [device.upload(inputs["places"][:, axis].copy()) for axis in range(3)]
    q_real, q_imaginary = (device.zeros(voxels, np.float32) for _ in range(2))
    for first in range(0, len(table), PAIRS_A_LAUNCH):
        pairs = table[first : first + PAIRS_A_LAUNCH]
        device.assign("samples", pairs)
        device.launch("compute_q", voxels // BLOCK, BLOCK, len(pairs), *places, q_real, q_imaginary)
    return {"magnitude": magnitudes, "q": np.stack([q_real.download(), q_imaginary.download()])}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Sums of cosines and sines in float64."""
    magnitude = (inputs["phi"].astype(np.float64) ** 2).sum(axis=1)
    q = np.zeros((2, size["voxels"]))
    for some, phase in phases(inputs):
        q[0] += np.cos(phase) @ magnitude[some]
        q[1] += np.sin(phase) @ magnitude[some]
    return {"magnitude": magnitude.astype(np.float32), "q": q.astype(np.float32)}


WORKLOAD = Workload(
    name="mri-q",
    title="MRI reconstruction, matrix Q",
    description=(
        "For each voxel the sum over samples in k-space of a magnitude times cosine and sine of a phase. A thread in"
        " a block of 256 owns a voxel and scales its coordinates by 2 pi once; an iteration takes a pair of samples"
        " from constant memory, padded with a zero if their number is odd, three products for each phase, then"
        " accurate sine and cosine: range reduction with a slow path over a table in local memory for large phases,"
        " polynomials chosen by quadrant. Samples with even and odd numbers are summed apart: three coordinates and"
        " four sums live through the loop; the sample loop is long and its branches mostly uniform."
    ),
    suite="parboil",
    tags=("float", "compute", "constant-memory", "local-memory", "iterative", "several-launches"),
    papers=("orf-lrf", "regmutex"),
    originals=("parboil/mri-q/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    # The samples of small are a thirtieth of the suite's; the voxels are two waves of blocks.
    sizes={
        "tiny": {"samples": 36, "voxels": 512},
        "small": {"samples": 8, "voxels": 331_776},
        "full": {"samples": 3072, "voxels": 32_768},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        "magnitude": Tolerance(relative=1.8e-7),
        # Phases up to 2 pi * 60 are right to 2^-18 or so, each of up to 3072 terms below 2; errors have either sign.
        "q": Tolerance(absolute=2e-2, relative=1e-4),
    },
)
