"""Seeded errors in prefetches, which the execution of expanded code has to detect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.intervals.expand import FETCHES, OTHER, checked_code, expanded, kind_of
from warpreg.designs.parts.intervals.formation import Intervals
from warpreg.ir.edges import visits_of
from warpreg.ir.kernel import Kernel

NOT_FETCHED, NOT_WRITTEN_BACK = "not fetched", "not written back"


@dataclass(frozen=True)
class IntervalCorruption:
    """The move at ``position`` of ``block`` of the expanded ``code`` is left out: a bit of a bit vector is wrong."""

    kind: str
    code: Kernel
    base: int
    block: int
    position: int

    def checked(self) -> Checked:
        """The expanded code with the error."""
        bodies = {block.index: list(block.instructions) for block in self.code.blocks}
        del bodies[self.block][self.position]
        return checked_code(with_blocks(self.code, bodies), self.base)


def corruptions_of(kernel: Kernel, intervals: Intervals, visits: NDArray[np.int64]) -> list[IntervalCorruption]:
    """Every move of a value that is needed, in blocks that were executed, ``visits`` of them by block of the kernel
    before.
    """
    code, base = expanded(kernel, intervals, liveness=True), kernel.register_count
    executed = visits_of(code, visits.tolist())
    return [
        IntervalCorruption(NOT_FETCHED if kind == FETCHES else NOT_WRITTEN_BACK, code, base, block.index, position)
        for block in code.blocks
        if executed[block.index]
        for position, instruction in enumerate(block.instructions)
        if (kind := kind_of(instruction, base)) != OTHER
    ]
