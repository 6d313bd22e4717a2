"""Forms register intervals in two passes (LTRF): control-flow intervals, bounded by the registers of a cache partition.

An interval has one entry, its header: all other pieces have their predecessors inside.  Pass 1 begins with the entry of
the kernel and adds pieces as long as that holds and the registers fit; what may follow and was not added is the header
of another interval.  Pass 2 does the same with intervals in place of pieces, until it merges nothing more.  So a loop
becomes one interval if its registers fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.designs.parts.intervals.pieces import PieceGraph, Registers, piece_graph
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True)
class Intervals:
    """The intervals of a kernel, the first one with its entry.

    ``of_piece``: by piece of the ``graph``, its interval; ``working_sets``: by interval, the registers that it
    accesses in the cache.
    """

    graph: PieceGraph
    of_piece: tuple[int, ...]
    working_sets: tuple[Registers, ...]

    def of_pc(self) -> list[int]:
        """By pc: the interval of the instruction."""
        pieces = zip(self.graph.pieces, self.of_piece, strict=True)
        return [interval for piece, interval in pieces for _ in range(piece.first, piece.end)]


def intervals_of(kernel: Kernel, bound: int, merges: bool = True) -> Intervals:
    """The intervals of a kernel with at most ``bound`` registers each; without ``merges``, those of pass 1."""
    known = _known(kernel)
    if (bound, merges) not in known:
        known[bound, merges] = _formed(piece_graph(kernel, bound), bound, merges)
    return known[bound, merges]


@cached_analysis
def _known(kernel: Kernel) -> dict[tuple[int, bool], Intervals]:
    """Those that were formed, by bound and passes."""
    return {}


def _formed(graph: PieceGraph, bound: int, merges: bool) -> Intervals:
    sets = [piece.registers for piece in graph.pieces]
    alone = [piece.bypasses for piece in graph.pieces]
    of_piece = list(range(len(sets)))
    successors: Sequence[Sequence[int]] = graph.successors
    while True:
        groups = _partition(successors, sets, alone, bound)
        number = {node: group for group, nodes in enumerate(groups) for node in nodes}
        of_piece = [number[node] for node in of_piece]
        successors = _quotient(successors, number, len(groups))
        sets = [Registers().union(*(sets[node] for node in nodes)) for nodes in groups]
        alone = [any(alone[node] for node in nodes) for nodes in groups]
        if not merges or len(groups) == len(number):
            return Intervals(graph, tuple(of_piece), tuple(sets))


def _partition(
    successors: Sequence[Sequence[int]], sets: Sequence[Registers], alone: Sequence[bool], bound: int
) -> list[list[int]]:
    """Groups of nodes with one entry each, in the order in which they are found; unreachable nodes come last, alone."""
    predecessors: list[set[int]] = [set() for _ in successors]
    for node, following in enumerate(successors):
        for other in following:
            predecessors[other].add(node)
    groups: list[list[int]] = []
    taken: set[int] = set()
    headers = [0, *range(1, len(successors))] if successors else []
    waiting = [0] if successors else []
    while len(taken) < len(successors):
        header = waiting.pop(0) if waiting else next(node for node in headers if node not in taken)
        if header in taken:
            continue
        group = _grown(header, successors, predecessors, sets, alone, bound, taken)
        groups.append(group)
        taken.update(group)
        waiting += [other for node in group for other in successors[node] if other not in taken]
    return groups


def _grown(
    header: int,
    successors: Sequence[Sequence[int]],
    predecessors: Sequence[set[int]],
    sets: Sequence[Registers],
    alone: Sequence[bool],
    bound: int,
    taken: set[int],
) -> list[int]:
    """The group of a header: what is entered from inside only, as far as the registers fit."""
    group, inside, named = [header], {header}, sets[header]
    if alone[header]:
        return group
    work = list(successors[header])
    while work:
        node = work.pop(0)
        fits = not alone[node] and len(named | sets[node]) <= bound
        if node in inside or node in taken or node == 0 or not fits or not predecessors[node] <= inside:
            continue
        group.append(node)
        inside.add(node)
        named |= sets[node]
        work += successors[node]
    return group


def _quotient(successors: Sequence[Sequence[int]], number: dict[int, int], count: int) -> list[list[int]]:
    """The graph of the groups, without edges inside them."""
    found: list[dict[int, None]] = [{} for _ in range(count)]
    for node, following in enumerate(successors):
        for other in following:
            if number[node] != number[other]:
                found[number[node]][number[other]] = None
    return [list(one) for one in found]
