"""mri-fhd: the vector F^H d of a magnetic resonance image reconstruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.parboil import k_space, phases
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

SAMPLES_A_LAUNCH = 512
RHO_PHI_BLOCK, BLOCK = 512, 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``k``: float32[samples, 3], ``phi`` and ``d``: float32[samples, 2], ``places``: float32[voxels, 3]."""
    return {**k_space(size, rng), "d": rng.normal(size=(size["samples"], 2)).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch for the samples, then one for every 512 of them; ``fh``: float32[2, voxels]."""
    samples, voxels = size["samples"], size["voxels"]
    phi, d, rho = device.upload(inputs["phi"]), device.upload(inputs["d"]), device.zeros((samples, 2), np.float32)
    device.launch("rho_phi", blocks(samples, RHO_PHI_BLOCK), RHO_PHI_BLOCK, rho, phi, d, samples)
    weights = rho.download()

    places = [device.upload(inputs["places"][:, axis].copy()) for axis in range(3)]
    fh = device.zeros((voxels, 2), np.float32)
    for first in range(0, samples, SAMPLES_A_LAUNCH):
        some = slice(first, first + SAMPLES_A_LAUNCH)
        device.assign("places", inputs["k"][some])
        device.assign("weights", weights[some])
        device.launch("compute_fh", voxels // BLOCK, BLOCK, len(weights[some]), *places, fh)
    return {"fh": np.ascontiguousarray(fh.download().T)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Complex sums in float64."""
    phi, d = (inputs[name].astype(np.float64) @ (1, 1j) for name in ("phi", "d"))
    weights = np.conj(phi) * d
    fh = np.zeros(size["voxels"], np.complex128)
    for some, phase in phases(inputs):
        fh += np.exp(1j * phase) @ weights[some]
    return {"fh": np.stack([fh.real, fh.imag]).astype(np.float32)}


WORKLOAD = Workload(
    name="mri-fhd",
    title="MRI reconstruction, F^H d",
    description=(
        "For each voxel the sum over samples in k-space of a complex number times a phase factor. Complex numbers lie"
        " interleaved. A thread in a block of 256 owns a voxel and scales its coordinates by 2 pi once; an iteration"
        " takes six samples from two tables in constant memory, each with three products for its phase, accurate sine"
        " and cosine (range reduction with a slow path over a table in local memory, polynomials chosen by quadrant)"
        " and four more for its share of two sums, which start at zero in each launch. Three coordinates and two sums"
        " live through a long loop body with many short branches; a second loop takes what six do not divide."
    ),
    suite="parboil",
    tags=("float", "compute", "constant-memory", "local-memory", "iterative", "several-launches"),
    papers=("orf-lrf",),
    originals=("parboil/mri-fhd/cuda",),
    source=Path(__file__).with_name("kernel.cu"),
    # The samples of small are few; its voxels are two waves of blocks.
    sizes={
        "tiny": {"samples": 37, "voxels": 512},
        "small": {"samples": 9, "voxels": 331_776},
        "full": {"samples": 2048, "voxels": 32_768},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Phases up to 2 pi * 60 are right to 2^-18 or so; up to 2048 terms of the order of 1, errors of either sign.
    tolerance=Tolerance(absolute=2e-2, relative=1e-4),
)
