"""Partial writes: writes that leave some lanes of a register unchanged whose old value may still be read.

A cache entry holds one register of a warp.  A write under a guard, or in divergent code, fills only some of its lanes.
That matters only if the old value of another lane may still be read, by lanes that the guard disables or by inactive
lanes of divergent code.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.accesses import bit_set
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.last_reads import waiting_lanes
from warpreg.analysis.liveness import liveness
from warpreg.designs.interface.program import Program
from warpreg.ir.kernel import Kernel


@cached_analysis
def partial_flags(kernel: Kernel) -> NDArray[np.uint8]:
    """Per result warp-register, whether a lane that is not written may still need its old value.

    Every write in possibly divergent code is flagged: whether all lanes are active there depends on the run.
    """
    live = liveness(kernel)
    waiting = waiting_lanes(kernel, live.live_in)
    flags: list[int] = []
    instructions = list(kernel.instructions())
    for block in kernel.blocks:
        pcs = live.accesses.block_pcs(block.index)
        for pc, merged in zip(pcs, live.merged(block.index), strict=True):
            kept = waiting[block.index] | bit_set(merged)
            written = (r for r in instructions[pc].defined if r.words)
            flags += [kept >> cell & 1 for register in written for cell in live.accesses.cells.of(register)]
    return np.array(flags, np.uint8)


def compile(program: Program, parameters: object, kernel: Kernel) -> Program:
    """Fill the hint column of writes that may leave old bytes."""
    return program._replace(result_partial=partial_flags(kernel))
