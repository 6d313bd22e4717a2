"""Dominators and post-dominators: Lengauer and Tarjan's algorithm with path compression (TOPLAS 1979), O(edges log
blocks).

Post-dominators are dominators of the reversed graph from a virtual exit that follows every exit.  Blocks from which
no exit can be reached (infinite loops) get an edge to the virtual exit from the last of them in reverse postorder,
and so on until all are covered; so every block has a post-dominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import Graph, control_flow, transpose
from warpreg.ir.kernel import Kernel

NONE = -1


@dataclass(frozen=True, slots=True)
class DominatorTree:
    """``immediate[b]`` is b's immediate (post-)dominator; -1 for the root, the virtual exit and unreachable blocks.

    ``entered`` and ``left`` number the tree depth first, so that ``dominates`` takes constant time.
    """

    immediate: tuple[int, ...]
    entered: tuple[int, ...]
    left: tuple[int, ...]

    def dominates(self, above: int, below: int) -> bool:
        """Whether every path through ``below`` passes ``above`` (a block dominates itself)."""
        return self.entered[above] <= self.entered[below] and self.left[below] <= self.left[above]

    def depth(self, block: int) -> int:
        """Number of strict dominators of a block."""
        steps = 0
        while (block := self.immediate[block]) != NONE:
            steps += 1
        return steps


@cached_analysis
def dominators(kernel: Kernel) -> DominatorTree:
    """Dominators from the entry block."""
    flow = control_flow(kernel)
    return _tree(immediate_dominators(flow.successors, 0))


@cached_analysis
def post_dominators(kernel: Kernel) -> DominatorTree:
    """Post-dominators from a virtual exit, whose number is -1."""
    flow = control_flow(kernel)
    exits = [*flow.exits, *_ends_of_infinite_loops(kernel)]
    backward = [*flow.predecessors, tuple(exits)]
    virtual = len(kernel.blocks)
    immediate = immediate_dominators(backward, virtual)
    return _tree([NONE if d == virtual else d for d in immediate[:virtual]])


def _ends_of_infinite_loops(kernel: Kernel) -> list[int]:
    flow = control_flow(kernel)
    covered: set[int] = set()
    chosen = []

    def cover(block: int) -> None:
        work = [block]
        while work:
            node = work.pop()
            if node not in covered:
                covered.add(node)
                work.extend(flow.predecessors[node])

    for block in flow.exits:
        cover(block)
    for block in reversed(flow.reverse_postorder):
        if block not in covered:
            chosen.append(block)
            cover(block)
    return chosen


def _tree(immediate: Sequence[int]) -> DominatorTree:
    children: list[list[int]] = [[] for _ in immediate]
    roots: list[int] = []
    for block, above in enumerate(immediate):
        (roots if above == NONE else children[above]).append(block)
    entered, left = [0] * len(immediate), [0] * len(immediate)
    clock = 0
    path = [(root, False) for root in reversed(roots)]
    while path:
        node, done = path.pop()
        clock += 1
        if done:
            left[node] = clock
        else:
            entered[node] = clock
            path.append((node, True))
            path.extend((child, False) for child in reversed(children[node]))
    return DominatorTree(tuple(immediate), tuple(entered), tuple(left))


def immediate_dominators(graph: Graph, root: int) -> list[int]:
    """For each node its immediate dominator from ``root``; -1 for the root and unreachable nodes."""
    order, parent = _preorder(graph, root)
    number = [NONE] * len(graph)
    for i, node in enumerate(order):
        number[node] = i
    predecessors = transpose(graph)
    forest = _Forest(len(order))
    semi = forest.semi
    dominator = [0] * len(order)
    buckets: list[list[int]] = [[] for _ in order]
    for i in range(len(order) - 1, 0, -1):
        for predecessor in predecessors[order[i]]:
            if number[predecessor] != NONE:
                semi[i] = min(semi[i], semi[forest.lowest(number[predecessor])])
        buckets[semi[i]].append(i)
        above = number[parent[order[i]]]
        forest.ancestor[i] = above
        for member in buckets[above]:
            low = forest.lowest(member)
            dominator[member] = low if semi[low] < above else above
        buckets[above].clear()
    for i in range(1, len(order)):
        if dominator[i] != semi[i]:
            dominator[i] = dominator[dominator[i]]
    immediate = [NONE] * len(graph)
    for i in range(1, len(order)):
        immediate[order[i]] = order[dominator[i]]
    return immediate


class _Forest:
    """Link-eval forest over preorder numbers: ``lowest`` gives the node of least semidominator on the path to the
    root."""

    def __init__(self, size: int) -> None:
        self.ancestor = [NONE] * size
        self.label = list(range(size))
        self.semi = list(range(size))

    def lowest(self, node: int) -> int:
        path = []
        while self.ancestor[node] != NONE and self.ancestor[self.ancestor[node]] != NONE:
            path.append(node)
            node = self.ancestor[node]
        for below in reversed(path):
            above = self.ancestor[below]
            if self.semi[self.label[above]] < self.semi[self.label[below]]:
                self.label[below] = self.label[above]
            self.ancestor[below] = self.ancestor[above]
        return self.label[path[0] if path else node]


def _preorder(graph: Graph, root: int) -> tuple[list[int], dict[int, int]]:
    order: list[int] = []
    parent: dict[int, int] = {}
    seen: set[int] = set()
    path = [(root, NONE)]
    while path:
        node, above = path.pop()
        if node in seen:
            continue
        seen.add(node)
        parent[node] = above
        order.append(node)
        path.extend((target, node) for target in reversed(graph[node]))
    return order, parent
