"""pathfinder: the cheapest way through a grid, row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

BLOCK = 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``costs``: int32[rows, cols], 0 to 9."""
    return {"costs": rng.integers(0, 10, (size["rows"], size["cols"]), dtype=np.int32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``pyramid`` rows a launch; ``least``: int32[cols], the cost of the cheapest way to each cell of the last row."""
    rows, cols, pyramid = size["rows"], size["cols"], size["pyramid"]
    costs = device.upload(inputs["costs"][1:])
    source, result = device.upload(inputs["costs"][0]), device.zeros(cols, np.int32)
    for done in range(0, rows - 1, pyramid):
        steps = min(pyramid, rows - 1 - done)
        device.launch(
            "find_path", blocks(cols, BLOCK - 2 * steps), BLOCK, steps, costs, source, result, cols, rows, done, steps
        )
        source, result = result, source
    return {"least": source.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Row by row on whole rows."""
    least = inputs["costs"][0]
    for costs in inputs["costs"][1:]:
        west, east = np.append(least[:1], least[:-1]), np.append(least[1:], least[-1:])
        least = np.minimum(np.minimum(west, least), east) + costs
    return {"least": least}


WORKLOAD = Workload(
    name="pathfinder",
    title="Cheapest path in a grid",
    description=(
        "Dynamic programming over the rows of a grid of costs: each cell adds its cost to the least of three cells"
        " above. A block of 256 threads advances its cells by up to twenty rows a launch in shared memory, two"
        " barriers a row, while the range that is still right shrinks from both sides. Integer comparisons, predicates"
        " and three shared loads; clamped neighbour positions, bounds and the cell number live through the loop."
    ),
    suite="rodinia",
    tags=("integer", "compute", "shared-memory", "barriers", "divergence", "several-launches"),
    papers=("rc-rsp",),
    originals=("rodinia/pathfinder",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 28, "cols": 1003, "pyramid": 20},
        "small": {"rows": 38, "cols": 300_000, "pyramid": 20},
        "full": {"rows": 100, "cols": 1_000_000, "pyramid": 20},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
