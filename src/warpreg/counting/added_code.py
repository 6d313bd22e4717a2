"""Instructions that a design has added to a kernel: how many there are, and which ones.

The schedule of a timing run without them knows nothing of them; along it, they issue directly before the next
instruction of the warp that was there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.counting.errors import ReplayError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel


class Fit(NamedTuple):
    """By pc of the new code uint8: whether the instruction is ``added``; by pc of the old code int64: its pc in the new
    one (``pcs``).
    """

    added: NDArray[np.uint8]
    pcs: NDArray[np.int64]


NO_FIT = Fit(np.zeros(0, np.uint8), np.zeros(0, np.int64))


def added_by_block(recorded: Kernel, running: Kernel) -> NDArray[np.int64]:
    """By block of ``running``, which a design has made of the ``recorded`` kernel: its added instructions."""
    before = np.zeros(len(running.blocks), np.int64)
    before[: len(recorded.blocks)] = np.diff(recorded.first_pcs())
    return np.diff(running.first_pcs()) - before


def fit_of(recorded: Kernel, running: Kernel) -> Fit:
    """Which instructions of ``running`` are added.  Raises ReplayError if one of the ``recorded`` kernel is missing."""
    added = np.ones(running.instruction_count, np.uint8)
    pcs = np.zeros(recorded.instruction_count, np.int64)
    first, old_first = running.first_pcs(), recorded.first_pcs()
    for block, new in zip(recorded.blocks, running.blocks, strict=False):
        positions = _kept(block.instructions, new.instructions)
        if len(positions) < len(block.instructions):
            raise ReplayError(
                f"kernel {recorded.name}: the design has removed instructions of block {block.index}, so the schedule "
                "of a run without the design does not fit"
            )
        rows = first[block.index] + np.array(positions, np.int64)
        added[rows] = 0
        pcs[old_first[block.index] : old_first[block.index + 1]] = rows
    return Fit(added, pcs)


def _kept(old: Sequence[Instruction], new: Sequence[Instruction]) -> list[int]:
    """Where the old instructions of a block are among the new ones, in their order; renamed ones are recognised by
    opcode and source location.
    """
    if len(old) == len(new):
        return list(range(len(new)))
    waiting, positions = deque(old), []
    for position, instruction in enumerate(new):
        if waiting and _is_same(waiting[0], instruction):
            positions.append(position)
            waiting.popleft()
    return positions


def _is_same(one: Instruction, other: Instruction) -> bool:
    return (one.opcode, one.modifiers, one.location) == (other.opcode, other.modifiers, other.location)
