"""The register affinity graph: how often two registers are sources of the same instruction (thesis §2.4.2).

A node is an architectural register.  Each instruction adds its estimated frequency to the edge of every unordered pair
of distinct source registers.  The words of a 64-bit operand are registers like any other, because each is read
separately; a register that an instruction names twice makes no pair with itself.

The frequency of an instruction is that of its basic block: a profile, or the product of the trip counts of the loops
around it.  A loop whose count is not a known constant counts as a fixed number of trips.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from warpreg.designs.interface.program import Program

Edge = tuple[int, int]
"""Two register numbers, the lower one first."""
Graph = Mapping[Edge, float]
"""The weight of each edge, above 0."""

UNKNOWN_TRIPS = 10
"""Trips of a loop without a known count; assumed, because the thesis (§2.4.2) gives no number: tenfold per level."""


def affinity_graph(program: Program, weights: Sequence[float]) -> dict[Edge, float]:
    """The graph of a kernel; ``weights`` has the frequency of each block.  Pairs that never execute have no edge."""
    graph: dict[Edge, float] = {}
    for block, weight in enumerate(weights):
        if weight > 0:
            for pc in range(program.first_pc[block], program.first_pc[block + 1]):
                for edge in source_pairs(program, pc):
                    graph[edge] = graph.get(edge, 0.0) + weight
    return graph


def source_pairs(program: Program, pc: int) -> list[Edge]:
    """The unordered pairs of distinct source registers of an instruction, ascending."""
    words = program.source[program.source_start[pc] : program.source_start[pc + 1]]
    return list(itertools.combinations(sorted({int(word) for word in words}), 2))


def neighbours(graph: Graph) -> dict[int, set[int]]:
    """The registers that each register with an edge is read with."""
    found: dict[int, set[int]] = {}
    for one, other in graph:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def components(graph: Graph) -> list[dict[Edge, float]]:
    """The connected parts of a graph, in order of their lowest register."""
    beside = neighbours(graph)
    part: dict[int, int] = {}
    parts = 0
    for register in sorted(beside):
        if register not in part:
            work = [register]
            while work:
                one = work.pop()
                if one not in part:
                    part[one] = parts
                    work.extend(beside[one])
            parts += 1
    found: list[dict[Edge, float]] = [{} for _ in range(parts)]
    for edge, weight in graph.items():
        found[part[edge[0]]][edge] = weight
    return found
