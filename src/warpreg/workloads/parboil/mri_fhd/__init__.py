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
    columns = [device.upload(inputs[name][:, part].copy()) for name in ("phi", "d") for part in range(2)]
    real, imaginary = (device.zeros(samples, np.float32) for _ in range(2))
    device.launch("rho_phi", blocks(samples, RHO_PHI_BLOCK), RHO_PHI_BLOCK, samples, *columns, real, imaginary)
    table = np.column_stack([inputs["k"], real.download(), imaginary.download()]).astype(np.float32)

    places = [device.upload(inputs["places"][:, axis].copy()) for axis in range(3)]
    fh_real, fh_imaginary = (device.zeros(voxels, np.float32) for _ in range(2))
    for first in range(0, samples, SAMPLES_A_LAUNCH):
        chunk = table[first : first + SAMPLES_A_LAUNCH]
        device.assign("samples", chunk)
        device.launch("compute_fh", voxels // BLOCK, BLOCK, len(chunk), *places, fh_real, fh_imaginary)
    return {"fh": np.stack([fh_real.download(), fh_imaginary.download()])}


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
        "For each voxel the sum over samples in k-space of a complex number times a phase factor. A thread in a block"
        " of 256 owns a voxel; an iteration takes six samples from constant memory, each with three fused"
        " multiply-adds for its phase, accurate sine and cosine (range reduction with a slow path over a table in"
        " local memory, polynomials chosen by quadrant) and four fused multiply-adds. Three coordinates and two sums"
        " live through a long loop body with many short branches."
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
