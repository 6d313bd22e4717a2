"""reduction-unrolled: the sum of a long vector by a grid that walks it in a loop, four steps at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.grid_sums import make_inputs, reference, sums_of
from warpreg.workloads.cuda_sdk.reduction_loop import WORKLOAD as LOOP
from warpreg.workloads.workload import Arrays, Device, Size, Workload


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """As ``reduction-loop``; ``sums``: float32[rounds]."""
    return {"sums": np.concatenate(sums_of(device, "reduce_sum_unrolled", size, inputs["values"]))}


WORKLOAD = Workload(
    name="reduction-unrolled",
    title="Parallel sum in an unrolled loop",
    description=(
        "`reduction-loop` with its loop unrolled four times and the eight loads in front: the warp waits once for all"
        " of them, and the additions behind pass their values on directly. The remedy that the paper on the"
        " compiler-managed hierarchy names for such loops; the sums are the same, to the bit."
    ),
    suite="cuda-sdk",
    tags=LOOP.tags,
    source=Path(__file__).with_name("kernel.cu"),
    sizes=LOOP.sizes,
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance=LOOP.tolerance,
)
