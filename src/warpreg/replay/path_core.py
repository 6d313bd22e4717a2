"""Replay core for one design: a loop over path words that calls the design's hooks.

It reads the words of :mod:`warpreg.trace.path`.  A warp starts at its first visit; a new thread block ends all warps of
the previous one.  A core replaces these functions by those of a design: the hooks (:mod:`warpreg.replay.hook_calls`),
`reset_rows`, and `is_suspending`.

A number converted through uint32 is known to be non-negative, so the compiler omits the sign check of an index.

Without a schedule, the cycle in which a warp leaves the active set is unknown.  With `is_suspending`, a warp leaves at
every instruction with the ``suspends`` flag of the program table, as in the two-level scheduler of ISCA 2011 (section
3.2), and returns at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.records import by_reference
from warpreg.counting.status import BAD_BLOCK, BAD_THREAD_BLOCK, BAD_WARP, CUT, OK
from warpreg.designs.interface import thread_blocks
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.program import Program
from warpreg.designs.interface.state import reset_rows
from warpreg.replay.hook_calls import (
    call_activated,
    call_arrived,
    call_issued,
    call_suspended,
    call_warp_end,
    call_warp_start,
)
from warpreg.trace.path import PathWord

VISIT, VISIT_MASK = int(PathWord.VISIT), int(PathWord.VISIT_MASK)
NEXT_WARP, THREAD_BLOCK = int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
WARP, POSITION, WIDTHS, BLOCK = range(4)
PROGRESS = 4
"""Length of ``progress``: the current warp, the position of the last record in the chunk, the number of widths used,
and the thread block.
"""
THE_SM = 0
"""Without a schedule, all warps belong to one SM."""


class Warps(NamedTuple):
    """By warp of a thread block: its active lanes, and whether it has started."""

    masks: NDArray[np.uint32]
    started: NDArray[np.uint8]


def is_suspending() -> bool:
    """Whether warps leave the active set at instructions with the ``suspends`` flag."""
    return False


def suspends() -> bool:
    """Replacement of `is_suspending` if they do."""
    return True


def begin_widths(progress: NDArray[np.int64], program: Program, blank: Plan, block: int) -> None:
    """Say where the widths of a visit are, if the design wants them."""


def take_widths(progress: NDArray[np.int64], program: Program, blank: Plan, block: int) -> None:
    """In place of `begin_widths` where it does."""
    first = program.result_start[program.first_pc[block]]
    blank.width_at[0] = progress[WIDTHS] - first
    progress[WIDTHS] += program.result_start[program.first_pc[block + 1]] - first


def take_slot(progress: NDArray[np.int64], program: Program, warp: int) -> None:
    """Keep the thread block of a warp that starts, if hooks ask for it."""


def leave_slot(program: Program, warp: int) -> None:
    """Forget it."""


def keep_slot(progress: NDArray[np.int64], program: Program, warp: int) -> None:
    """In place of `take_slot` where they do."""
    thread_blocks.take_slot(program, warp, progress[BLOCK], warp)


def forget_slot(program: Program, warp: int) -> None:
    """In place of `leave_slot`."""
    thread_blocks.take_slot(program, warp, thread_blocks.NO_BLOCK, thread_blocks.NO_BLOCK)


THREAD_BLOCKS: Mapping[Function, Function] = {take_slot: keep_slot, leave_slot: forget_slot}
"""Replacements if hooks ask for thread blocks."""


def walk(
    path: NDArray[np.uint32],
    progress: NDArray[np.int64],
    warps: Warps,
    visits: NDArray[np.int64],
    table: Program,
    state: Any,
    resets: Any,
    blank_plan: Plan,
) -> int:
    """Replay a chunk; returns a status of :mod:`warpreg.counting.status`.

    ``visits`` int64[blocks] counts visits of basic blocks, ``table`` is the program table, ``resets`` as in
    `reset_rows`.
    """
    program, blank = by_reference(table), by_reference(blank_plan)
    size = path.size
    masks, started = warps.masks, warps.started
    warp: Any = np.int64(np.uint32(progress[WARP]))
    mask: Any = masks[warp]
    position = 0
    status = OK
    while position < size:
        progress[POSITION] = position
        word: Any = path[position]
        position += 1
        kind = word & 3
        payload = word >> 2
        if kind & 1 and position == size:
            status = CUT
            break
        if kind < NEXT_WARP:
            if kind == VISIT_MASK:
                mask = path[position]
                position += 1
            if payload >= visits.size:
                status = BAD_BLOCK
                break
            if started[warp] == 0:
                started[warp] = 1
                take_slot(progress, program, warp)
                start(state, program, resets, blank, warp, mask)
            visits[payload] += 1
            begin_widths(progress, program, blank, payload)
            visit(state, program, blank, warp, mask, payload)
        elif kind == NEXT_WARP:
            if payload >= masks.size:
                status = BAD_WARP
                break
            masks[warp] = mask
            warp = np.int64(payload)
            mask = masks[warp]
        else:
            if word != THREAD_BLOCK:
                status = BAD_THREAD_BLOCK
                break
            progress[BLOCK] = path[position]
            position += 1
            end_thread_block(state, program, blank, warps)
            mask = masks[warp]
    masks[warp] = mask
    progress[WARP] = warp
    return status


def start(state: Any, program: Program, resets: Any, blank: Plan, warp: int, mask: int) -> None:
    """A warp makes its first visit."""
    reset_rows(resets, warp)
    call_warp_start(state, program, blank, THE_SM, warp, mask)
    if is_suspending():
        call_activated(state, program, blank, THE_SM, warp, mask)


def visit(state: Any, program: Program, blank: Plan, warp: int, mask: int, block: int) -> None:
    """A warp issues the instructions of a basic block."""
    first: Any = np.int64(np.uint32(program.first_pc[block]))
    end: Any = np.int64(np.uint32(program.first_pc[block + 1]))
    for pc in range(first, end):
        if is_suspending() and program.suspends[pc]:
            call_suspended(state, program, blank, THE_SM, warp, mask)
            call_activated(state, program, blank, THE_SM, warp, mask)
        call_issued(state, program, blank, THE_SM, warp, mask, pc)
        if program.long_latency[pc]:
            call_arrived(state, program, blank, THE_SM, warp, mask, pc)


def end_thread_block(state: Any, program: Program, blank: Plan, warps: Warps) -> None:
    """End the warps of a thread block, after all of them have started."""
    for warp in range(warps.masks.size):
        if warps.started[warp] == 1:
            call_warp_end(state, program, blank, THE_SM, warp, warps.masks[warp])
    for warp in range(warps.masks.size):
        warps.started[warp] = 0
        warps.masks[warp] = 0
        leave_slot(program, warp)
