"""reduction-loop: the sum of a long vector by a grid that walks it in a loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.grid_sums import make_inputs, reference, sums_of
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches a round: the grid, and one block over its partial sums; ``sums``: float32[rounds]."""
    return {"sums": np.concatenate(sums_of(device, "reduce_sum_loop", size, inputs["values"]))}


WORKLOAD = Workload(
    name="reduction-loop",
    title="Parallel sum in a loop",
    description=(
        "The sum of a vector, taken several times over. 64 blocks of 256 threads walk it with the stride of the whole"
        " grid: in each step of a tight loop a thread adds two elements, for each of which it waits, and steps its"
        " index on. A tree in shared memory and shuffles ends each block as in `reduction`; one block adds the partial"
        " sums. This is the shape of the SDK's sample at its default grid. Few values pass from instruction to"
        " instruction."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "shared-memory", "barriers", "shuffle", "several-launches", "iterative"),
    source=Path(__file__).with_name("kernel.cu"),
    # The grid is as large as its namesake's whatever the vector, so no size fills the largest machine.
    sizes={
        "tiny": {"n": 300_001, "blocks": 64, "rounds": 1},
        "small": {"n": 10_000_001, "blocks": 64, "rounds": 3},
        "full": {"n": 32_000_001, "blocks": 64, "rounds": 8},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A thread adds n / 16384 < 2000 positive numbers in a row, the trees 18 more: the error is below
    # 2000 * 2^-24 = 1.2e-4 of the sum at worst; roundings to either side leave about its square root.
    tolerance=Tolerance(relative=5e-6),
)
