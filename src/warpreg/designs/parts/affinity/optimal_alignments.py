"""The best alignments by an integer program, the reference for the heuristic (thesis §2.5.1).

A binary variable per edge is 1 if its registers are on different sides; the gain is the edge's weight.  An odd cycle of
n edges cuts at most n - 1 of them.  These rows are added as solutions violate them, until what a solution cuts has no
odd cycle: such a solution is optimal, because it solves a program with fewer rows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from warpreg.designs.parts.affinity.alignment import alignments, coloured, cut_weight
from warpreg.designs.parts.affinity.graph import Edge, Graph, components
from warpreg.designs.parts.affinity.odd_cycles import odd_cycles
from warpreg.designs.parts.placement.integer_program import Packing, Solution, solve

LIMIT_S = 10.0
"""Time limit of the solver for one connected part of a graph, in seconds."""
CYCLES_PER_ROUND = 64


@dataclass(frozen=True, slots=True)
class BestAlignments:
    """The sides of the registers with edges, the weight that they cut, and an upper bound of it.

    ``proven``: no alignments cut more.
    """

    sides: dict[int, int]
    cut: float
    bound: float
    proven: bool


def best_alignments(graph: Graph, limit_s: float = LIMIT_S) -> BestAlignments:
    """The alignments that cut the largest weight; those of the heuristic for parts on which the limit is exceeded."""
    sides: dict[int, int] = {}
    bound = 0.0
    proven = True
    for part in components(graph):
        found = _best_of_part(part, limit_s)
        sides |= found.sides
        bound, proven = bound + found.bound, proven and found.proven
    return BestAlignments(sides, cut_weight(graph, sides), bound, proven)


def _best_of_part(graph: Graph, limit_s: float) -> BestAlignments:
    deadline = time.monotonic() + limit_s
    edges = sorted(graph)
    program = Packing([graph[edge] for edge in edges])
    while True:
        solution = solve(program, max(0.01, deadline - time.monotonic()))
        kept = {edges[variable]: graph[edges[variable]] for variable in solution.taken}
        cycles = odd_cycles(kept, CYCLES_PER_ROUND)
        if not cycles:
            return _answer(graph, coloured(graph, kept), solution)
        if time.monotonic() > deadline:
            return _answer(graph, alignments(graph), solution)
        _forbid(program, edges, cycles)


def _forbid(program: Packing, edges: list[Edge], cycles: list[frozenset[Edge]]) -> None:
    place = {edge: variable for variable, edge in enumerate(edges)}
    for cycle in cycles:
        program.at_most(len(cycle) - 1, [(place[edge], 1) for edge in sorted(cycle)])


def _answer(graph: Graph, sides: dict[int, int], solution: Solution) -> BestAlignments:
    """The bound is rounded towards the cut where they agree but for the solver's tolerance."""
    cut = cut_weight(graph, sides)
    proven = solution.proven and solution.bound - cut <= 1e-6 * max(1.0, cut)
    return BestAlignments(sides, cut, cut if proven else max(cut, solution.bound), proven)
