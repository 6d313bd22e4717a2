"""Natural loops: the blocks that reach a back edge without passing its target.  Irreducible cycles are not loops
here."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.dominators import dominators
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Loop:
    """``blocks`` include the header and all inner loops; ``parent`` is the index of the enclosing loop or -1.

    ``depth`` is 1 for an outermost loop; ``latches`` are the blocks that branch back to the header.
    """

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    parent: int
    depth: int


@dataclass(frozen=True, slots=True)
class LoopForest:
    """Loops, outer ones before inner; ``innermost[b]`` is the index of b's innermost loop or -1."""

    loops: tuple[Loop, ...]
    innermost: tuple[int, ...]

    def depth(self, block: int) -> int:
        """How many loops contain a block."""
        index = self.innermost[block]
        return self.loops[index].depth if index >= 0 else 0


@cached_analysis
def loops(kernel: Kernel) -> LoopForest:
    """The natural loops of a kernel; loops with the same header are one."""
    flow, tree = control_flow(kernel), dominators(kernel)
    latches: dict[int, list[int]] = {}
    for block in flow.reverse_postorder:
        for successor in flow.successors[block]:
            if tree.dominates(successor, block):
                latches.setdefault(successor, []).append(block)
    natural_loops: list[Loop] = []
    innermost = [-1] * len(kernel.blocks)
    for header in sorted(latches, key=lambda h: tree.entered[h]):
        parent = innermost[header]
        depth = natural_loops[parent].depth + 1 if parent >= 0 else 1
        body = _body(header, latches[header], flow.predecessors)
        for block in body:
            innermost[block] = len(natural_loops)
        natural_loops.append(Loop(header, body, tuple(sorted(latches[header])), parent, depth))
    return LoopForest(tuple(natural_loops), tuple(innermost))


def _body(header: int, latches: list[int], predecessors: tuple[tuple[int, ...], ...]) -> frozenset[int]:
    body = {header}
    work = list(latches)
    while work:
        block = work.pop()
        if block not in body:
            body.add(block)
            work.extend(predecessors[block])
    return frozenset(body)
