"""Counts of a design whose hooks depend on the program table alone: walk each block once, then multiply by its
visits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpreg.counting.block_visits import block_visits
from warpreg.ir.kernel import Kernel
from warpreg.replay.walker import Behaviour, Counters, PathWalker
from warpreg.trace.path import PathWord, RecordedPath

ALL_LANES = 0xFFFFFFFF


def walk_static(
    paths: Sequence[RecordedPath], behaviour: Behaviour, counters: Counters, kernel: Kernel | None = None
) -> None:
    """Count the block visits of ``paths`` of the ``kernel``, and multiply the counts of each block by its visits."""
    counters.visits += block_visits(paths, counters.visits.size, behaviour.mode)
    once = counters.like(behaviour.program)
    hooked = PathWalker(behaviour.hooked(behaviour.hooks, mode="interpreted"), once)
    for block in np.flatnonzero(counters.visits):
        for counts in once.planned:
            counts.fill(0)
        hooked.feed(np.array([int(block) << 2 | PathWord.VISIT_MASK, ALL_LANES], np.uint32))
        visits = counters.visits[block]
        for total, counts in zip(counters.planned, once.planned, strict=True):
            total += counts * visits
    behaviour.check(once, kernel)
