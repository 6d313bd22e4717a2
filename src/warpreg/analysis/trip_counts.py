"""Constant trip counts of counted loops, and block frequencies that follow from them without a run.

A loop is counted if one guarded branch alone leaves it, once in each iteration; the branch compares a register with a
constant; and the register begins at a constant and changes by a constant once in each iteration.  Everything else has
no constant count: other forms of code, loops that lanes may leave early, and counts at which the register wraps around.
The analysis reads PTX instructions; the loops of SASS kernels have no constant count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.counter_values import Counters
from warpreg.analysis.dominators import dominators
from warpreg.analysis.loops import Loop, loops
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Trip:
    """A counted loop: how often its header runs each time that the loop is entered.

    ``last`` are the blocks that the last iteration runs too: those up to the branch that leaves the loop.  The other
    blocks of the loop run once less.
    """

    count: int
    last: frozenset[int]


@cached_analysis
def trips(kernel: Kernel) -> tuple[Trip | None, ...]:
    """By loop of `warpreg.analysis.loops`, its trips; None where the count is not proved to be constant."""
    return tuple(_trip(kernel, loop) for loop in loops(kernel).loops)


def static_frequencies(kernel: Kernel, unknown: float) -> NDArray[np.float64]:
    """By block: how often a warp that enters the kernel runs it, estimated without a run.

    The trip counts of all loops around a block are multiplied; a loop without a constant one has the factor
    ``unknown``.  Both sides of a branch inside a loop count as taken.
    """
    frequencies = np.ones(len(kernel.blocks))
    for loop, trip in zip(loops(kernel).loops, trips(kernel), strict=True):
        for block in loop.blocks:
            if trip is None:
                frequencies[block] *= unknown
            else:
                frequencies[block] *= trip.count if block in trip.last else trip.count - 1
    return frequencies


def _trip(kernel: Kernel, loop: Loop) -> Trip | None:
    branch = _exit_branch(kernel, loop)
    if branch is None:
        return None
    block, stays_if_taken = branch
    pc = kernel.first_pcs()[block + 1] - 1
    guard = kernel.blocks[block].instructions[-1].guard
    if guard is None or not _once(kernel, loop, block):
        return None
    counters = Counters(kernel, loop, lambda b: _once(kernel, loop, b))
    count = counters.iterations(guard.register, pc, continues=stays_if_taken != guard.negated)
    if count is None or _left_early(kernel, loop):
        return None
    successors = control_flow(kernel).successors
    before = _reachable(successors, [loop.header], loop.blocks - {block}) if block != loop.header else set()
    return Trip(count, frozenset({*before, block}))


def _exit_branch(kernel: Kernel, loop: Loop) -> tuple[int, bool] | None:
    """The only block with an edge out of the loop, and whether its branch stays in the loop when taken."""
    flow = control_flow(kernel)
    leaving = [block for block in sorted(loop.blocks) if not loop.blocks.issuperset(flow.successors[block])]
    if len(leaving) != 1 or len(flow.successors[leaving[0]]) != 2:
        return None
    last = kernel.blocks[leaving[0]].terminator
    if last is None or not last.traits.is_direct:
        return None
    return leaving[0], kernel.blocks[leaving[0]].successors[0] in loop.blocks


def _left_early(kernel: Kernel, loop: Loop) -> bool:
    """Whether lanes may end inside the loop."""
    return any(i.traits.is_exit for block in loop.blocks for i in kernel.blocks[block].instructions)


def _once(kernel: Kernel, loop: Loop, block: int) -> bool:
    """Whether a block of the loop runs exactly once in each iteration that is completed."""
    if block not in loop.blocks or not all(dominators(kernel).dominates(block, latch) for latch in loop.latches):
        return False
    successors = control_flow(kernel).successors
    return block not in _reachable(successors, successors[block], loop.blocks - {loop.header})


def _reachable(successors: tuple[tuple[int, ...], ...], starts: Iterable[int], within: frozenset[int]) -> set[int]:
    """Blocks of ``within`` on paths from ``starts`` that stay there."""
    reachable: set[int] = set()
    work = [block for block in starts if block in within]
    while work:
        block = work.pop()
        if block not in reachable:
            reachable.add(block)
            work.extend(s for s in successors[block] if s in within)
    return reachable
