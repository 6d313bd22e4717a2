"""The simple cycles of odd length of a graph, the shortest first, up to a bound.

A graph can have exponentially many cycles, so the search stops after a number of cycles or of extensions of a path.  If
it has found none by then and the graph has one, the shortest is returned: it follows from a breadth-first search.  An
empty answer therefore always means that the graph is bipartite.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.designs.parts.affinity.graph import Edge, Graph, neighbours

MAX_CYCLES = 1024
MAX_STEPS = 20_000

Cycle = frozenset[Edge]
"""The edges of a cycle."""
Beside = dict[int, set[int]]


def odd_cycles(graph: Graph, most_cycles: int = MAX_CYCLES, most_steps: int = MAX_STEPS) -> list[Cycle]:
    """The odd cycles of a graph, shorter ones first; all of them if both bounds allow."""
    shortest = shortest_odd_cycle(graph)
    if shortest is None:
        return []
    search = _Search(neighbours(graph), most_steps)
    cycles: list[Cycle] = []
    for length in range(len(shortest), len(search.beside) + 1, 2):
        for cycle in search.of_length(length):
            cycles.append(cycle)
            if len(cycles) == most_cycles:
                return cycles
    return cycles or [shortest]


@dataclass
class _Search:
    """``steps``: number of paths that may still be extended."""

    beside: Beside
    steps: int

    def of_length(self, length: int) -> Iterator[Cycle]:
        """The cycles of a length, each once: from its lowest register, first to the lower of its two neighbours."""
        for first in sorted(self.beside):
            back = _distances(self.beside, first)
            paths: list[tuple[int, ...]] = [(first,)]
            while paths and self.steps > 0:
                path = paths.pop()
                self.steps -= 1
                if len(path) == length:
                    if first in self.beside[path[-1]] and path[1] < path[-1]:
                        yield cycle_of(path)
                    continue
                for one in sorted(self.beside[path[-1]], reverse=True):
                    if one in back and one not in path and len(path) + back[one] <= length:
                        paths.append((*path, one))


def _distances(beside: Beside, first: int) -> dict[int, int]:
    """The edges between ``first`` and each higher register that paths through higher registers reach."""
    distances = {first: 0}
    work = deque([first])
    while work:
        at = work.popleft()
        for one in beside[at]:
            if one > first and one not in distances:
                distances[one] = distances[at] + 1
                work.append(one)
    return distances


def shortest_odd_cycle(graph: Graph) -> Cycle | None:
    """An odd cycle of least length; None if the graph is bipartite.

    A shortest closed walk of odd length repeats no register: a repeated one would split it into two closed walks, one
    of which is odd and shorter.
    """
    beside = neighbours(graph)
    best: tuple[int, ...] = ()
    for first in sorted(beside):
        walk = _odd_walk(beside, first, len(best) if best else len(beside) + 1)
        best = walk or best
    return cycle_of(best) if best else None


def _odd_walk(beside: Beside, first: int, below: int) -> tuple[int, ...]:
    """The registers of a shortest closed walk of odd length from ``first``; none if it is not shorter than that."""
    walks: dict[tuple[int, int], tuple[int, ...]] = {(first, 0): (first,)}
    work = deque([(first, 0)])
    while work:
        register, parity = work.popleft()
        walk = walks[register, parity]
        if len(walk) >= below:
            return ()
        for one in sorted(beside[register]):
            if (one, 1 - parity) == (first, 1):
                return walk
            if (one, 1 - parity) not in walks:
                walks[one, 1 - parity] = (*walk, one)
                work.append((one, 1 - parity))
    return ()


def cycle_of(registers: tuple[int, ...]) -> Cycle:
    """The edges of the cycle through these registers in this order."""
    following = (*registers[1:], registers[0])
    return frozenset((min(edge), max(edge)) for edge in zip(registers, following, strict=True))
