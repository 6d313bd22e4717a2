"""streamcluster: points are grouped around as many of them as are worth their price, by local search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 512
LEAST, MOST = 10, 20
"""How many centres are wanted."""
A_POINT = np.dtype([("weight", np.float32), ("cost", np.float32), ("centre", np.int64)], align=True)

Savings = tuple[Array, Array]
"""float32[points, centres + 1], each point's part, and bool[points], whether it would switch."""


@dataclass
class Clustering:
    """Which point each point belongs to (int64) and its distance from there times its weight (float32)."""

    assigned: Array
    cost: Array

    def centres(self) -> Array:
        """The points that are centres, in ascending order."""
        return np.unique(self.assigned)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``coordinates``: float32[dimensions, points], uniform in [0, 1); ``candidates``: int64[prices, tries], the points
    to try for each price; ``order``: a random order of the points, in which the first solution takes them, and
    ``lots``: float64[points], which decide whether it makes them centres."""
    points = size["points"]
    return {
        "coordinates": rng.random((size["dimensions"], points), dtype=np.float32),
        "candidates": rng.integers(0, points, (size["prices"], size["tries"])),
        "order": rng.permutation(points),
        "lots": rng.random(points),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch for each candidate; ``assigned`` and ``cost`` of each point at the end."""
    dimensions, points = inputs["coordinates"].shape
    coordinates = device.upload(inputs["coordinates"])
    described, table = device.zeros(points, A_POINT), device.zeros(points, np.int32)
    grid = blocks(points, THREADS)

    def savings(clustering: Clustering, candidate: int) -> Savings:
        records = np.zeros(points, A_POINT)
        records["weight"], records["cost"], records["centre"] = 1, clustering.cost, clustering.assigned
        described.write(records)
        centres = clustering.centres()
        numbers = np.zeros(points, np.int32)
        numbers[centres] = np.arange(len(centres))
        table.write(numbers)
        sums, switches = device.zeros((len(centres) + 1, points), np.float32), device.zeros(points, np.bool_)
        known = (described, table, len(centres), coordinates, dimensions, points, candidate)
        device.launch("price_opening", grid, THREADS, *known, sums, switches)
        return sums.download().T, switches.download()

    return _searched(size, inputs, savings)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same search, with the savings of a candidate by NumPy."""
    coordinates = inputs["coordinates"]
    every = np.arange(coordinates.shape[1])

    def savings(clustering: Clustering, candidate: int) -> Savings:
        cost = _distances(coordinates, candidate)
        centres = clustering.centres()
        switches = cost < clustering.cost
        column = np.where(switches, len(centres), np.searchsorted(centres, clustering.assigned))
        sums = np.zeros((len(every), len(centres) + 1), np.float32)
        sums[every, column] = np.where(switches, cost - clustering.cost, clustering.cost - cost)
        return sums, switches

    return _searched(size, inputs, savings)


def _distances(coordinates: Array, place: int) -> Array:
    """float32[points]: squared distances from one point, rounded as fused multiply-adds do."""
    total = np.zeros(coordinates.shape[1], np.float32)
    for row in coordinates:
        difference = (row - row[place]).astype(np.float64)
        total = (difference * difference + total).astype(np.float32)
    return total


def _searched(size: Size, inputs: Arrays, savings: Callable[[Clustering, int], Savings]) -> Arrays:
    """The price of a centre is halved until a first solution has ``LEAST`` centres, then bisected until there are no
    more than ``MOST``; for each price some candidates are tried."""
    coordinates = inputs["coordinates"]
    low, high = 0.0, float(_distances(coordinates, 0).sum(dtype=np.float64))
    price = high / 2
    while len((clustering := _first_solution(inputs, price)).centres()) < LEAST:
        high, price = price, (low + price) / 2
    for candidates in inputs["candidates"]:
        for candidate in candidates:
            open_if_worth(coordinates, clustering, int(candidate), price, *savings(clustering, int(candidate)))
        count = len(clustering.centres())
        if count > MOST:
            low = price
        elif count < LEAST:
            high = price
        price = (low + high) / 2
    return {"assigned": clustering.assigned, "cost": clustering.cost}


def _first_solution(inputs: Arrays, price: float) -> Clustering:
    """Points in random order become centres, each by lot in proportion to its distance from the nearest centre."""
    coordinates, order, lots = inputs["coordinates"], inputs["order"], inputs["lots"]
    clustering = Clustering(np.full(len(order), order[0]), _distances(coordinates, order[0]))
    at = 0
    while (chosen := lots[at + 1 :] < clustering.cost[order[at + 1 :]] / price).any():
        at += 1 + int(np.argmax(chosen))
        _move(coordinates, clustering, order[at], _distances(coordinates, order[at]) < clustering.cost)
    return clustering


def _move(coordinates: Array, clustering: Clustering, centre: int, moves: Array) -> None:
    """Assign the points ``moves`` to ``centre``."""
    clustering.cost[moves] = _distances(coordinates, centre)[moves]
    clustering.assigned[moves] = centre


def open_if_worth(
    coordinates: Array, clustering: Clustering, candidate: int, price: float, sums: Array, switches: Array
) -> None:
    """Open a centre at ``candidate`` if that is worth its price, and close those that are no longer worth theirs."""
    centres = clustering.centres()
    total = sums.sum(axis=0, dtype=np.float64)
    worth = price + total[:-1]  # what closing a centre saves: its price, less its points' longer way to the candidate
    closes = worth > 0
    change = price + total[-1] - worth[closes].sum()
    if change < 0 and candidate not in centres:
        _move(coordinates, clustering, candidate, switches | np.isin(clustering.assigned, centres[closes]))


WORKLOAD = Workload(
    name="streamcluster",
    title="Online clustering",
    description=(
        "Local search for cluster centres among the points themselves, of which each has its price. For one candidate"
        " at a time a launch computes what opening a centre there would change: a thread a point, with a loop over the"
        " dimensions, in batches of eight, that sums squared differences to the candidate, whose coordinates all"
        " threads share; then the thread notes what it would save by switching, or else what that would cost it in the"
        " row of its present centre, in a table with a column for each point. The host adds up the rows, opens and"
        " closes centres, and bisects the price. A memory-bound loop with many 64-bit addresses, then a vector load of"
        " a structure and scattered accesses."
    ),
    suite="rodinia",
    tags=("float", "memory", "divergence", "several-launches", "iterative"),
    papers=("rc-rsp",),
    originals=("rodinia/streamcluster",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"points": 700, "dimensions": 11, "prices": 2, "tries": 3},
        "small": {"points": 332_000, "dimensions": 16, "prices": 2, "tries": 2},
        "full": {"points": 65_536, "dimensions": 256, "prices": 5, "tries": 6},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Distances are the same to the bit but once in 2^29, as the reference rounds twice; the rest happens on the host.
    tolerance=Tolerance(),
)
