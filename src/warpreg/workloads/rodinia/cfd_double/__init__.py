"""cfd-double: flow of air around an obstacle as in ``cfd``, in double precision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from warpreg.workloads.rodinia import cfd
from warpreg.workloads.rodinia.cfd import mesh
from warpreg.workloads.workload import Arrays, Size, Tolerance


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """The mesh of `mesh.tetrahedra` in float64, its last element repeated until blocks are full."""
    return cfd.padded(mesh.tetrahedra(size["side"], rng), np.float64)


WORKLOAD = replace(
    cfd.WORKLOAD,
    name="cfd-double",
    title="Unstructured flow solver in double precision",
    description=(
        "The kernels of cfd with all numbers in double precision: each value of the flux kernel takes a pair of"
        " registers, so that more than a hundred are live, and square roots and quotients become sequences of"
        " multiply-adds that start from a reciprocal of the SFU."
    ),
    tags=("float", "memory", "f64", "constant-memory", "divergence", "several-launches", "iterative"),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"side": 6, "steps": 2, "stages": 3},
        "small": {"side": 39, "steps": 1, "stages": 1},
        "full": {"side": 26, "steps": 10, "stages": 3},
    },
    inputs=make_inputs,
    # As in cfd, with 2^-53 for 2^-24: 20 * 2^-53 * 5.
    tolerance=Tolerance(relative=2e-15, absolute=1.2e-14),
)
