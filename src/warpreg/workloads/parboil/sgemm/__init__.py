"""sgemm: a dense matrix product with register tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload

BLOCK = (32, 4)
TILE_M, TILE_N = 128, 16
ALPHA, BETA = np.float32(1.25), np.float32(0.5)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a``: float32[m, k], ``b``: float32[n, k], ``c``: float32[m, n], uniform in [0, 1)."""
    shapes = {"a": ("m", "k"), "b": ("n", "k"), "c": ("m", "n")}
    return {name: rng.random((size[rows], size[cols]), dtype=np.float32) for name, (rows, cols) in shapes.items()}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch on matrices stored column by column; ``c``: float32[m, n]."""
    m, n, k = size["m"], size["n"], size["k"]
    a, b, c = (device.upload(np.ascontiguousarray(inputs[name].T)) for name in "abc")
    device.launch("sgemm_nt", (m // TILE_M, n // TILE_N), BLOCK, ALPHA, a, b, BETA, c, m, n, k)
    return {"c": np.ascontiguousarray(c.download().T)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {"c": (float(ALPHA) * (a @ b.T) + float(BETA) * c).astype(np.float32)}


WORKLOAD = Workload(
    name="sgemm",
    title="Dense matrix product with register tiles",
    description=(
        "C = beta C + alpha A B^T. A block of four warps computes a tile of 128 x 16: a thread keeps the sixteen sums"
        " of two rows, 64 apart, and eight columns in registers. In each step the block copies 8 x 16 elements of B to"
        " one of two tiles in shared memory while it reads the other, with one barrier. Twice a step a thread loads"
        " eight elements of A and makes 64 fused multiply-adds with operands that all threads of a warp read from the"
        " same words of shared memory. Sixteen values live through the kernel and are read and written in turn; the"
        " others are short-lived."
    ),
    suite="parboil",
    tags=("float", "compute", "shared-memory", "barriers", "iterative"),
    papers=("rfc", "corf"),
    originals=("parboil/sgemm/cuda",),
    differences=(
        "A thread of the namesake has sixteen sums of one row, and its block one tile of B between two barriers; here"
        " a thread has two rows of eight sums, and two tiles alternate with one barrier a step."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    # Rows are a multiple of 128, columns of 16, the inner extent of 8.
    sizes={
        "tiny": {"m": 256, "n": 48, "k": 24},
        "small": {"m": 1024, "n": 992, "k": 160},
        "full": {"m": 1024, "n": 992, "k": 1056},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # k positive products, one rounding each, and three more: below (k + 3) 2^-24, 6.4e-5 at k = 1056.
    tolerance=Tolerance(relative=6.5e-5),
)
