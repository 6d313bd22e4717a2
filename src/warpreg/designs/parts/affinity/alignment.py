"""CORF++'s alignments: two registers on different sides of a bank can be read at once (thesis §2.5.1).

The compiler seeks the two-colouring of the affinity graph that cuts the largest weight (bipartite edge frustration, NP
hard).  Its heuristic breaks all odd cycles: while there is one, it removes the edge of least weight divided by the
number of odd cycles through it, among the edges on odd cycles; what is left has two colours (Figures 2.7 and 2.8).

Where the text is silent: of equal edges the one with the lower register numbers is removed; the lowest register of each
connected part of what is left is right-aligned; a register without an edge in the graph does not care, one that lost
its edges is right-aligned.  Numbers of cycles are those of the enumerated ones (`odd_cycles` states the bound); after
each removal the broken cycles are dropped, and when none is left the search is repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warpreg.designs.parts.affinity.graph import Edge, Graph, components, neighbours
from warpreg.designs.parts.affinity.odd_cycles import MAX_CYCLES, Cycle, odd_cycles

ANY_SIDE, RIGHT, LEFT = range(3)
"""The code of a register in the alignment vector (2 bits each): do not care, least or most significant slices."""


def alignments(graph: Graph, most_cycles: int = MAX_CYCLES) -> dict[int, int]:
    """RIGHT or LEFT of each register with an edge, by the heuristic; any other register does not care."""
    left = dict(graph)
    for edge in frustrated_edges(graph, most_cycles):
        del left[edge]
    return coloured(graph, left)


def frustrated_edges(graph: Graph, most_cycles: int = MAX_CYCLES) -> list[Edge]:
    """The edges that the heuristic removes, in order; without them the graph has no odd cycle."""
    removed: list[Edge] = []
    for part in components(graph):
        left = dict(part)
        while cycles := odd_cycles(left, most_cycles):
            while cycles:
                edge = lightest_per_cycle(left, cycles)
                del left[edge]
                removed.append(edge)
                cycles = [cycle for cycle in cycles if edge not in cycle]
    return removed


def lightest_per_cycle(graph: Graph, cycles: list[Cycle]) -> Edge:
    """The edge of least weight divided by the number of these cycles that it breaks."""
    through = Counter(edge for cycle in cycles for edge in cycle)
    return min(through, key=lambda edge: (graph[edge] / through[edge], edge))


def coloured(graph: Graph, bipartite: Graph) -> dict[int, int]:
    """The two colours of the registers of a graph, given its edges of which the ends must differ."""
    beside = neighbours(bipartite)
    colour: dict[int, int] = {}
    for register in sorted(neighbours(graph)):
        if register not in colour:
            colour[register] = RIGHT
            work = [register]
            while work:
                one = work.pop()
                for other in beside.get(one, ()):
                    if other not in colour:
                        colour[other] = LEFT if colour[one] == RIGHT else RIGHT
                        work.append(other)
    return colour


def cut_weight(graph: Graph, sides: Mapping[int, int]) -> float:
    """The weight of the edges whose registers are on different sides."""
    return sum(weight for (one, other), weight in graph.items() if {sides.get(one), sides.get(other)} == {LEFT, RIGHT})
