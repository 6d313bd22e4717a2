"""reduction: the sum of a long vector by a tree over blocks, shared memory and shuffles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

BLOCK = 256
ELEMENTS_PER_BLOCK = 2 * BLOCK


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``values``: float32[n], uniform in [0, 1)."""
    return {"values": rng.random(size["n"], dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Launches over ever fewer partial sums until one is left, ``rounds`` times over; ``sums``: float32[rounds]."""
    values = device.upload(inputs["values"])
    lengths = [blocks(size["n"], ELEMENTS_PER_BLOCK)]
    while lengths[-1] > 1:
        lengths.append(blocks(lengths[-1], ELEMENTS_PER_BLOCK))
    partial_sums = [device.zeros(length, np.float32) for length in lengths]
    sums = [_sum(device, values, size["n"], partial_sums, lengths) for _ in range(size["rounds"])]
    return {"sums": np.concatenate(sums)}


def _sum(device: Device, values: Buffer, n: int, partial_sums: list[Buffer], lengths: list[int]) -> Array:
    for target, length in zip(partial_sums, lengths, strict=True):
        device.launch("reduce_sum", length, BLOCK, values, target, n)
        values, n = target, length
    return values.download()


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The sum in float64, rounded once."""
    return {"sums": np.full(size["rounds"], inputs["values"].sum(dtype=np.float64), dtype=np.float32)}


WORKLOAD = Workload(
    name="reduction",
    title="Parallel sum",
    description=(
        "The sum of a vector, taken several times over, as an iterative solver takes its residual. A block of 256"
        " threads adds 512 elements: each thread adds two while loading, a tree with sequential addressing in shared"
        " memory halves the live threads down to one warp, and that warp finishes with shuffles. The kernel is"
        " launched again on the partial sums until one is left. Most warps fall idle early, between barriers."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "shared-memory", "barriers", "shuffle", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"n": 70_001, "rounds": 1},
        "small": {"n": 10_000_001, "rounds": 3},
        "full": {"n": 32_000_001, "rounds": 8},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A tree of log2(n) < 26 additions of positive numbers: the error is below 26 * 2^-24 = 1.6e-6 of the sum.
    tolerance=Tolerance(relative=2e-6),
)
