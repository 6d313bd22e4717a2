"""The control-flow graph: successors, predecessors, and the visiting order of forward analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.ir.kernel import Kernel

Graph = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """``successors`` and ``predecessors`` by block, without duplicates; predecessors in ascending order.

    ``reverse_postorder`` contains the reachable blocks, the entry first; ``exits`` the blocks without successors.
    """

    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    reverse_postorder: tuple[int, ...]
    exits: tuple[int, ...]


@cached_analysis
def control_flow(kernel: Kernel) -> ControlFlow:
    """The graph of a kernel's blocks; linear in blocks and edges."""
    successors = tuple(tuple(dict.fromkeys(block.successors)) for block in kernel.blocks)
    exits = tuple(i for i, s in enumerate(successors) if not s)
    return ControlFlow(successors, transpose(successors), tuple(reversed(postorder(successors, 0))), exits)


def transpose(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """The graph with every edge reversed."""
    sources: list[list[int]] = [[] for _ in graph]
    for node, targets in enumerate(graph):
        for target in targets:
            sources[target].append(node)
    return tuple(map(tuple, sources))


def postorder(graph: Graph, root: int) -> list[int]:
    """Nodes reachable from ``root`` in depth-first postorder, edges visited in order."""
    order: list[int] = []
    seen = {root}
    path = [(root, iter(graph[root]))]
    while path:
        node, targets = path[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                path.append((target, iter(graph[target])))
                break
        else:
            path.pop()
            order.append(node)
    return order
