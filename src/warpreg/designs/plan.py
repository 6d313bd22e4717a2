"""What a hook says about an instruction: which level serves each operand, and what moves between levels.

These functions are compiled into the hooks that call them.  Indices of levels and events are positions in the design's
declaration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PRIVATE, SHARED = 0, 1
READ, WRITE = 0, 1


class Plan(NamedTuple):
    """The plan of one instruction; hooks fill it through the functions below.

    ``accesses`` int64[levels * 4], index ``(level * 2 + action) * 2 + datapath``; ``moves`` int64[levels, levels] from,
    to; ``events`` int64[events]; ``mask`` the active lanes at the block's entry; ``datapath`` PRIVATE or SHARED.
    """

    accesses: NDArray[np.int64]
    moves: NDArray[np.int64]
    events: NDArray[np.int64]
    mask: int
    datapath: int


def read(plan: Plan, operand: int, level: int) -> None:
    """``level`` serves source ``operand``: one read there, towards the instruction's datapath."""
    plan.accesses[(level * 2 + READ) * 2 + plan.datapath] += 1


def write(plan: Plan, operand: int, level: int) -> None:
    """``level`` takes result ``operand``: one write there; call it once for each level that takes the result."""
    plan.accesses[(level * 2 + WRITE) * 2 + plan.datapath] += 1


def move(plan: Plan, source: int, target: int) -> None:
    """A warp-register goes from level to level (eviction, flush, fill): one read of ``source``, one write of
    ``target``.
    """
    plan.moves[source, target] += 1


def count(plan: Plan, event: int, amount: int = 1) -> None:
    """``amount`` more of one of the design's own events."""
    plan.events[event] += amount
