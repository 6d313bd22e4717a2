"""path-finding: many agents search their ways across a map, each thread with its own priority list."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 64
SIDE = 32
"""Cells from one row to the next in the number of a cell."""
STRAIGHT, DIAGONAL = 10, 14
NO_WAY = -1
NOT_A_WAY = -3
LONGEST = 256
"""Steps of a way that can be stored."""
UNREACHED = 10000


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``map``: uint8[rows, cols], 1 where walls and rubble are; ``trips``: uint16[agents, 2], start and goal."""
    rows, cols = size["rows"], size["cols"]
    blocked = rng.random((rows, cols)) < 0.15
    for row in range(5, rows, 11):
        blocked[row] = True
        blocked[row, rng.integers(0, cols, 4)] = False
    free = np.flatnonzero(~blocked)
    numbers = free // cols * SIDE + free % cols
    trips = rng.choice(numbers, (size["agents"], 2)).astype(np.uint16)
    return {"map": blocked.astype(np.uint8), "trips": trips}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; int32[agents] ``costs``, -1 where there is no way, and ``walked``, the same added up step by step."""
    agents = size["agents"]
    texture = device.texture(inputs["map"], "2d")
    costs, steps = (device.zeros(agents, np.int32) for _ in range(2))
    ways = device.zeros((LONGEST, agents), np.uint16)
    trips = device.upload(inputs["trips"])
    numbers = size["rows"], size["cols"]
    launch = blocks(agents, BLOCK), BLOCK
    device.launch("path_finding", *launch, texture, *numbers, trips, agents, LONGEST, costs, steps, ways)
    found = costs.download()
    walked = walk(inputs["map"], inputs["trips"], steps.download(), ways.download().astype(np.int32))
    return {"costs": found, "walked": np.where(found == NO_WAY, found, walked)}


def walk(blocked: Array, trips: Array, steps: Array, ways: Array) -> Array:
    """What each way costs from goal back to start, int32[agents]; -3 if it is broken or leads through an obstacle."""
    at, agents = trips[:, 1].astype(np.int32), np.arange(len(trips))
    cost, sound = np.zeros(len(trips), np.int32), (steps == 0) | (ways[0] == at)
    for step in range(1, int(steps.max()) + 1):
        there = np.where(step < steps, ways[step, agents], trips[:, 0]) if step < len(ways) else trips[:, 0]
        there = np.where(step <= steps, there, at)
        down, across = abs(there // SIDE - at // SIDE), abs(there % SIDE - at % SIDE)
        sound &= (np.maximum(down, across) == (step <= steps)) & (blocked[there // SIDE, there % SIDE] == 0)
        cost += np.where(step <= steps, np.where(down + across == 2, DIAGONAL, STRAIGHT), 0).astype(np.int32)
        at = there
    return np.where(sound & (at == trips[:, 0]), cost, NOT_A_WAY).astype(np.int32)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Costs from every start to all cells at once: cells take over from their neighbours until nothing changes."""
    starts, which = np.unique(inputs["trips"][:, 0], return_inverse=True)
    costs = np.full((len(starts), size["rows"] + 2, size["cols"] + 2), UNREACHED, np.int16)
    costs[np.arange(len(starts)), starts // SIDE + 1, starts % SIDE + 1] = 0
    inside = costs[:, 1:-1, 1:-1]
    walls = np.int16(UNREACHED) * inputs["map"].astype(np.int16)
    while True:
        before = inside.copy()
        for down in (0, 1, 2):
            for across in (0, 1, 2):
                step = DIAGONAL if down != 1 and across != 1 else STRAIGHT
                there = costs[:, down : down + size["rows"], across : across + size["cols"]]
                np.minimum(inside, there + np.int16(step) + walls, out=inside)
        if np.array_equal(before, inside):
            break
    goals = inputs["trips"][:, 1]
    found = inside[which, goals // SIDE, goals % SIDE].astype(np.int32)
    found[found >= UNREACHED] = NO_WAY
    return {"costs": found, "walked": found}


WORKLOAD = Workload(
    name="path-finding",
    title="Path finding",
    description=(
        "Shortest ways across a map with walls and rubble, A* with an octile estimate. A thread is one agent and"
        " searches alone, from its own start to its own goal: costs and directions of 1024 cells and a binary heap of"
        " cells to visit lie in its local memory, 5 KB, the map is a texture. Agents of a warp visit other cells and"
        " leave their loops at other times, so divergence is extreme and local accesses scatter. Loads are followed at"
        " once by comparisons and branches; position, goal and the heap's count live through everything. Finally each"
        " thread writes its way backwards. Structured as one-thread-an-agent searches of crowds are."
    ),
    suite="hpc",
    tags=("integer", "memory", "local-memory", "divergence", "texture", "partial-warps"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # A search takes a warp some 800,000 instructions, so that 330,000 agents would be far beyond the size.
    sizes={
        "tiny": {"rows": 11, "cols": 13, "agents": 70},
        "small": {"rows": 32, "cols": 32, "agents": 640},
        "full": {"rows": 32, "cols": 32, "agents": 32768},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance=Tolerance(),
)
