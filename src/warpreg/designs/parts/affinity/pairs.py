"""CORF's exclusive pairs: each register is packed with at most one other (thesis §2.4.2, Figure 2.5).

The edge of least weight is removed until no register has more than one edge.  An edge can be removed if one of its
registers has another edge.  Afterwards an edge between two registers that lost all of theirs is restored.

Where the text is silent: of edges of equal weight the one with the higher register numbers is removed first; the
heaviest edge that can be restored is restored first, then of equal ones the one with the lower numbers.
"""

from __future__ import annotations

from collections import Counter

from warpreg.designs.parts.affinity.graph import Edge, Graph

NO_BUDDY = -1


def exclusive_pairs(graph: Graph) -> list[Edge]:
    """The pairs of a kernel, the most frequent first.  No register is in two of them."""
    order = sorted(graph, key=lambda edge: (-graph[edge], edge))
    degree = Counter(register for edge in graph for register in edge)
    kept = []
    for edge in reversed(order):
        if degree[edge[0]] > 1 or degree[edge[1]] > 1:
            degree.subtract(edge)
        else:
            kept.append(edge)
    for edge in order:
        if not degree[edge[0]] and not degree[edge[1]]:
            degree.update(edge)
            kept.append(edge)
    return sorted(kept, key=lambda edge: (-graph[edge], edge))


def buddies(pairs: list[Edge], registers: int) -> list[int]:
    """The partner of each register in its pair, or NO_BUDDY."""
    found = [NO_BUDDY] * registers
    for one, other in pairs:
        found[one], found[other] = other, one
    return found
