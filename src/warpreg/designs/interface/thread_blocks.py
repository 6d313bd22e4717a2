"""Thread blocks of warps, as hooks see them.

The cores keep them in two columns of the program table by warp slot, ``block_of_slot`` and ``index_of_slot``, if a
design asks for them (`knows_thread_blocks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType

import numpy as np

from piecewise_numba.rebuild import reaches
from warpreg.designs.interface.hooks import authors_of_hook
from warpreg.designs.interface.program import Program

NO_BLOCK = -1


def thread_block(program: Program, warp: int) -> int:
    """The thread block of the warp in a slot: its number in the launch (in a sample: from its first one on), -1 for an
    empty slot.

    Known from ``block_start`` to ``block_end``, for all its warps.  In a replay without a schedule: of warps that have
    started.
    """
    return int(program.block_of_slot[warp])


def index_in_block(program: Program, warp: int) -> int:
    """The index of the warp in its thread block, -1 for an empty slot."""
    return int(program.index_of_slot[warp])


def with_slots(program: Program, warps: int) -> Program:
    """The program for a core with this number of warp slots, all of them empty."""
    return program._replace(
        block_of_slot=np.full(warps, NO_BLOCK, np.int64), index_of_slot=np.full(warps, NO_BLOCK, np.int64)
    )


def take_slot(program: Program, warp: int, block: int, index: int) -> None:
    """Warp ``index`` of a thread block has a slot from now on."""
    program.block_of_slot[warp] = block
    program.index_of_slot[warp] = index


def take_free_slots(program: Program, first: int, slots: int, block: int, warps: int) -> None:
    """The warps of a thread block take the lowest of these slots that are empty, in order."""
    index = 0
    for warp in range(first, first + slots):
        if index < warps and program.block_of_slot[warp] == NO_BLOCK:
            take_slot(program, warp, block, index)
            index += 1


def leave_slots(program: Program, first: int, slots: int, block: int) -> None:
    """A thread block leaves its slots."""
    for warp in range(first, first + slots):
        if program.block_of_slot[warp] == block:
            take_slot(program, warp, NO_BLOCK, NO_BLOCK)


def knows_thread_blocks(hooks: Mapping[str, FunctionType]) -> bool:
    """Whether hooks call `thread_block` or `index_in_block`, also through functions."""
    authors = tuple(author for hook in hooks.values() for author in authors_of_hook(hook))
    return reaches(authors, (thread_block, index_in_block))
