"""Reconvergence points of divergent branches.

The reconvergence point is the immediate post-dominator of the branch, ignoring paths on which lanes exit early: lanes
that have exited never reconverge, so they must not delay the others. The remaining lanes reconverge after
``if (p) { if (q) return; }``, and arrive at the next barrier together.
"""

from __future__ import annotations

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import Graph, control_flow
from warpreg.analysis.dominators import NONE, immediate_dominators
from warpreg.ir.kernel import Kernel


@cached_analysis
def reconvergence(kernel: Kernel) -> tuple[int, ...]:
    """Per block, the block where lanes that diverge at its end reconverge; -1 if they do not.

    The exit that most blocks reach is the main exit; other exits are early. Blocks that do not reach it are treated
    separately in the same way, and so are those of infinite loops. Linear in the kernel for each main exit. Blocks on
    edges do not count, so that lanes meet where they do without them.
    """
    flow = control_flow(kernel)
    edges = {block.index for block in kernel.blocks if block.is_edge}
    meeting = [NONE] * len(kernel.blocks)
    rest = set(flow.reverse_postorder)
    ends = [block for block in flow.exits if block in rest]
    while rest:
        reaching = {end: _reaching(flow.predecessors, end, rest) for end in ends if end in rest}
        if not reaching:
            last = next(block for block in reversed(flow.reverse_postorder) if block in rest - edges)
            reaching = {last: _reaching(flow.predecessors, last, rest)}
        main, part = max(reaching.items(), key=lambda item: (len(item[1] - edges), item[0]))
        backward = [[p for p in flow.predecessors[b] if p in part] if b in part else [] for b in range(len(meeting))]
        immediate = immediate_dominators(backward, main)
        for block in part:
            meeting[block] = immediate[block]
        rest -= part
    return tuple(meeting)


def _reaching(predecessors: Graph, end: int, within: set[int]) -> set[int]:
    blocks: set[int] = set()
    work = [end]
    while work:
        block = work.pop()
        if block in within and block not in blocks:
            blocks.add(block)
            work.extend(predecessors[block])
    return blocks
