"""vector-add: the sum of two vectors, the smallest kernel there is, bound by memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

BLOCK = 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``a`` and ``b``: float32[n], uniform in [0, 1)."""
    return {name: rng.random(size["n"], dtype=np.float32) for name in ("a", "b")}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``rounds`` launches over three buffers in turn; ``c`` is what the last one wrote."""
    n = size["n"]
    older, newer, target = device.upload(inputs["a"]), device.upload(inputs["b"]), device.zeros(n, np.float32)
    for _ in range(size["rounds"]):
        device.launch("vector_add", blocks(n, BLOCK), BLOCK, older, newer, target, n)
        older, newer, target = newer, target, older
    return {"c": newer.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same sums, element by element in float32: each is rounded once, so the result is exact."""
    older, newer = inputs["a"], inputs["b"]
    for _ in range(size["rounds"]):
        older, newer = newer, older + newer
    return {"c": newer}


WORKLOAD = Workload(
    name="vector-add",
    title="Vector addition",
    description=(
        "c = a + b, then again on the last two vectors, round after round (a Fibonacci sequence of vectors). One"
        " thread adds one element: index arithmetic, a bounds test, two coalesced loads, one addition, one store. No"
        " value lives long and nothing is shared, so it shows a register file under pure streaming."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "several-launches"),
    papers=("orf-lrf", "bow"),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"n": 5_003, "rounds": 3},
        "small": {"n": 2_000_003, "rounds": 20},
        "full": {"n": 16_000_003, "rounds": 30},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
