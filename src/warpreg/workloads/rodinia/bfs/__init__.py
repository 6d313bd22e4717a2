"""bfs: breadth-first search over a graph, level by level, bound by scattered memory accesses and divergence."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

BLOCK = 256
UNREACHED = -1
FRONTIER = 2
"""How the kernels mark a node of the present level; 0 is one that was not seen."""
LOWEST_DEGREE = 2


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A directed random graph in compressed sparse rows: ``row_offsets``: int32[nodes + 1], ``columns``: int32[edges].

    A node has 2 to ``highest_degree`` successors, each within ``reach`` nodes of it on the ring of all nodes.
    """
    nodes, reach = size["nodes"], size["reach"]
    degrees = rng.integers(LOWEST_DEGREE, size["highest_degree"] + 1, nodes, dtype=np.int32)
    row_offsets = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(degrees, out=row_offsets[1:])
    columns = np.repeat(np.arange(nodes, dtype=np.int32), degrees)
    columns += rng.integers(-reach, reach + 1, columns.size, dtype=np.int32)
    columns %= nodes
    return {"row_offsets": row_offsets, "columns": columns}


def sources(size: Size) -> list[int]:
    """The nodes that the searches start from, spread evenly over the ring."""
    return [search * size["nodes"] // size["searches"] for search in range(size["searches"])]


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Both kernels once per level until a level reaches nothing, for one source after another.

    ``level``: int32[searches, nodes], the distance from the source, -1 where there is no path.
    """
    nodes = size["nodes"]
    row_offsets, columns = device.upload(inputs["row_offsets"]), device.upload(inputs["columns"])
    standing, level = device.zeros(nodes, np.uint8), device.zeros(nodes, np.int32)
    more = device.zeros(1, np.uint8)
    grid = blocks(nodes, BLOCK)
    levels = []
    for source in sources(size):
        is_source = np.arange(nodes) == source
        standing.write(np.where(is_source, np.uint8(FRONTIER), np.uint8(0)))
        level.write(np.where(is_source, np.int32(0), np.int32(UNREACHED)))
        depth, advanced = 0, True
        while advanced:
            depth += 1
            more.write(np.zeros(1, np.uint8))
            device.launch("bfs_expand", grid, BLOCK, row_offsets, columns, standing, nodes)
            device.launch("bfs_update", grid, BLOCK, standing, level, depth, more, nodes)
            advanced = bool(more.download()[0])
        levels.append(level.download())
    return {"level": np.stack(levels)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same searches over explicit lists of nodes: all successors of a frontier at once."""
    return {"level": np.stack([_levels(inputs["row_offsets"], inputs["columns"], source) for source in sources(size)])}


def _levels(row_offsets: Array, columns: Array, source: int) -> Array:
    """The distance of every node from ``source``: int32[nodes]."""
    level = np.full(row_offsets.size - 1, UNREACHED, dtype=np.int32)
    level[source] = 0
    frontier, depth = np.array([source]), 0
    while frontier.size:
        depth += 1
        successors = columns[_edges(row_offsets, frontier)]
        level[successors[level[successors] == UNREACHED]] = depth
        frontier = np.flatnonzero(level == depth)
    return level


def _edges(row_offsets: Array, nodes: Array) -> Array:
    """Indices of all edges that leave ``nodes``."""
    starts = row_offsets[nodes]
    degrees = row_offsets[nodes + 1] - starts
    edges_before = np.cumsum(degrees) - degrees
    return np.repeat(starts - edges_before, degrees) + np.arange(degrees.sum())


WORKLOAD = Workload(
    name="bfs",
    title="Breadth-first search",
    description=(
        "The distance of every node of a graph from a source, for a few sources. One thread per node, two launches"
        " per level: the first walks the successors of the nodes on the frontier and marks those that were not seen,"
        " the second makes these the next frontier, gives them its level and raises a flag that tells the host to go"
        " on. One byte a node holds all of that, and successors are looked at in batches of four. Most threads leave at"
        " once; the others run loops of different lengths over scattered words and bytes. Addresses and flags, hardly"
        " any arithmetic."
    ),
    suite="rodinia",
    tags=("integer", "memory", "divergence", "several-launches"),
    papers=("bow", "regmutex", "tfet"),
    originals=("rodinia/bfs",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"nodes": 3_001, "searches": 1, "highest_degree": 10, "reach": 200},
        "small": {"nodes": 480_003, "searches": 1, "highest_degree": 16, "reach": 16_000},
        "full": {"nodes": 4_000_003, "searches": 2, "highest_degree": 16, "reach": 128_000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
