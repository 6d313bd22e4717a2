"""The order in which a warp, not one thread, executes the blocks of a kernel.

Where a warp diverges, it executes one side of the branch after the other and then continues at the reconvergence point.
So a block may follow another that no thread passes on its way.  The flow of a warp is the control flow of its threads
plus these edges: any branch with two targets may diverge, in any order of its sides, and lanes may exit early.
"""

from __future__ import annotations

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.kernel import Kernel


@cached_analysis
def warp_successors(kernel: Kernel) -> tuple[tuple[int, ...], ...]:
    """Per block, the blocks that a warp may execute directly after it, ascending."""
    flow, meeting = control_flow(kernel), reconvergence(kernel)
    followers = [set(successors) for successors in flow.successors]
    for branch, targets in enumerate(flow.successors):
        if len(targets) < 2:
            continue
        end = meeting[branch]
        sides = [target for target in targets if target != end]
        for side in sides:
            waiting = {other for other in sides if other != side}
            for block in _region(flow.successors, side, end):
                exits = not flow.successors[block] or _exits(kernel, block)
                if exits or end in flow.successors[block]:
                    followers[block] |= waiting
                if exits and end >= 0:
                    followers[block].add(end)
    return tuple(tuple(sorted(blocks)) for blocks in followers)


def _region(successors: tuple[tuple[int, ...], ...], first: int, end: int) -> set[int]:
    """The blocks reachable from ``first`` without passing ``end``."""
    region: set[int] = set()
    work = [first]
    while work:
        block = work.pop()
        if block not in region:
            region.add(block)
            work.extend(s for s in successors[block] if s != end)
    return region


def _exits(kernel: Kernel, block: int) -> bool:
    """Whether lanes may end in a block, which others may leave: an exit under a guard."""
    return any(instruction.traits.ends_lanes for instruction in kernel.blocks[block].instructions)
