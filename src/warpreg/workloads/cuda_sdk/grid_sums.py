"""The host's part of sums of a vector by a grid of fixed size."""

from __future__ import annotations

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size

BLOCK = 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``values``: float32[n], uniform in [0, 1)."""
    return {"values": rng.random(size["n"], dtype=np.float32)}


def sums_of(device: Device, kernel: str, size: Size, values: Array) -> list[Array]:
    """The sum of ``values`` in each round: one launch of ``blocks`` blocks, one of a block over their sums."""
    whole = device.upload(values)
    partial, total = device.zeros(size["blocks"], np.float32), device.zeros(1, np.float32)
    sums = []
    for _ in range(size["rounds"]):
        device.launch(kernel, size["blocks"], BLOCK, whole, partial, size["n"])
        device.launch(kernel, 1, BLOCK, partial, total, size["blocks"])
        sums.append(total.download())
    return sums


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The sum in float64, rounded once."""
    return {"sums": np.full(size["rounds"], inputs["values"].sum(dtype=np.float64), dtype=np.float32)}
