"""nn: the nearest neighbours of a place among many records."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 256
RECORDS = 4
"""For each thread."""
LATITUDE, LONGITUDE = np.float32(30.0), np.float32(90.0)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``places``: float32[records, 2], latitudes and longitudes of storms, to a tenth of a degree."""
    latitudes = rng.uniform(5, 65, size["records"])
    longitudes = rng.uniform(0, 359, size["records"])
    return {"places": np.round(np.stack([latitudes, longitudes], axis=1), 1).astype(np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``distances``: float32[records], and the sorted distances of the ``nearest``: float32[10]."""
    records = size["records"]
    places, distances = device.upload(inputs["places"]), device.zeros(records, np.float32)
    grid = blocks(records, BLOCK * RECORDS)
    device.launch("distances_to", grid, BLOCK, LATITUDE, LONGITUDE, places, records, distances)
    return _with_nearest(distances.download())


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64, rounded once."""
    offsets = inputs["places"].astype(np.float64) - (LATITUDE, LONGITUDE)
    return _with_nearest(np.hypot(offsets[:, 0], offsets[:, 1]).astype(np.float32))


def _with_nearest(distances: Array) -> Arrays:
    return {"distances": distances, "nearest": np.sort(distances)[:10]}


WORKLOAD = Workload(
    name="nn",
    title="Nearest neighbours",
    description=(
        "Distances of records on a map to one place. A thread in a block of 256 reads four records of two floats with"
        " two vector loads, and stores the roots of four sums of two squares as a vector; the host picks the ten"
        " nearest. Straight-line code around exact square roots, each of which hardware expands to a dozen instructions"
        " and a slow path; few values, all short-lived."
    ),
    suite="rodinia",
    tags=("float", "memory", "vector-loads"),
    papers=("rc-rsp", "tfet"),
    originals=("rodinia/nn",),
    differences=(
        "The namesake's thread has one record; its 24 registers come from an older assembler, which gives so many to"
        " every kernel that may call a subroutine, as an exact square root does."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"records": 5_003}, "small": {"records": 2_000_003}, "full": {"records": 20_000_000}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Differences are exact to 2^-24 of up to 359, and a root adds half a unit: 3 * 2^-24; near zero the error of the
    # difference stays, but coordinates differ by multiples of a tenth or are equal.
    tolerance=Tolerance(relative=1e-5, absolute=1e-5),
)
