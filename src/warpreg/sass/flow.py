"""What the steps of all warps say about a program: who follows whom, where lanes part and meet, what is predicated.

A trace gives each line the lanes that were active *and* whose predicate held.  The active lanes are rebuilt: those of
a branch's or exit's mask leave, the others go on; after a point where lanes wait for one another the next line's mask
stands for itself; and a mask that grows means that lanes have joined.  A line with fewer lanes than are active is
predicated.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from warpreg.trace.path import PathWord

VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
NEAR = 16
"""The next instruction is at most so many bytes on: 8 until sm_6x, with a control word before every third, then 16."""

HASH = np.uint64(0x9E3779B97F4A7C15)


class Ends(enum.IntEnum):
    """What an instruction does to its warp's path; all but NOTHING end a basic block."""

    NOTHING = 0
    BRANCH = 1
    EXIT = 2
    SYNC = 3
    BARRIER = 4


BRANCH, EXIT, SYNC = int(Ends.BRANCH), int(Ends.EXIT), int(Ends.SYNC)


class Program(NamedTuple):
    """Columns by static instruction: ``pc``, ``ends`` (an `Ends`); ``before`` and ``after``, its only neighbours in
    the steps of warps (-1: none); ``entry``, a warp began there; ``leads`` and ``stops``, a basic block must begin
    there or end there; ``guarded``, lanes did not execute it though active; ``held`` and ``failed``, hashes of the
    lanes that executed it and of those that did not; ``executed``, how often warps did."""

    pc: NDArray[np.int64]
    ends: NDArray[np.uint8]
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    entry: NDArray[np.uint8]
    leads: NDArray[np.uint8]
    stops: NDArray[np.uint8]
    guarded: NDArray[np.uint8]
    held: NDArray[np.uint64]
    failed: NDArray[np.uint64]
    executed: NDArray[np.int64]


PREVIOUS, PREVIOUS_MASK, ACTIVE, CURRENT_MASK, THREADS = range(5)
WARP_STATE = 5
"""Length of the state between chunks: the last static instruction (-1 at a warp's beginning), its mask, the lanes
active at it, the mask of the step under way; and the threads of a thread block."""


@numba.njit
def active_lanes(program: Any, previous: Any, previous_mask: Any, active: Any, step: Any, mask: Any) -> Any:
    """The lanes active at a step; not all of those before if lanes left, and no less than the step's own."""
    ends = program.ends[previous] if previous >= 0 else 0
    expected = active
    if ends == SYNC:
        expected = 0
    elif ends in (BRANCH, EXIT):
        distance = program.pc[step] - program.pc[previous]
        if 0 < distance <= NEAR:
            expected = active & ~previous_mask
        else:
            expected = previous_mask if ends == BRANCH else 0
    return mask if mask & ~expected else expected


@numba.njit
def present_lanes(warp: Any, threads: Any) -> Any:
    """The lanes of a warp that have a thread."""
    count = min(np.int64(32), threads - 32 * warp)
    return (np.int64(1) << count) - 1


@numba.njit(cache=True)
def observe(steps: NDArray[np.uint32], program: Program, state: NDArray[np.int64]) -> None:
    """Add a chunk of steps to what is known of the program."""
    previous, previous_mask, active, mask = state[PREVIOUS], state[PREVIOUS_MASK], state[ACTIVE], state[CURRENT_MASK]
    at = 0
    while at < steps.size:
        word = np.int64(steps[at])
        at += 1
        kind = word & 3
        if kind >= WARP:
            if previous >= 0:
                program.stops[previous] = 1
            previous = np.int64(-1)
            active = present_lanes(word >> 2, state[THREADS])
            at += kind == THREAD_BLOCK
            continue
        if kind == VISIT_MASK:
            mask = np.int64(steps[at])
            at += 1
        step = word >> 2
        now = active_lanes(program, previous, previous_mask, active, step, mask)
        if previous < 0:
            program.entry[step] = 1
        else:
            _meet(program, previous, step)
            if now & ~active:
                program.leads[step] = 1
        program.executed[step] += 1
        program.guarded[step] |= now != mask
        program.held[step] = (program.held[step] ^ np.uint64(mask)) * HASH
        program.failed[step] = (program.failed[step] ^ np.uint64(now & ~mask)) * HASH
        previous, previous_mask, active = step, mask, now
    state[PREVIOUS], state[PREVIOUS_MASK], state[ACTIVE], state[CURRENT_MASK] = previous, previous_mask, active, mask


@numba.njit
def _meet(program: Any, previous: Any, step: Any) -> None:
    if program.after[previous] < 0:
        program.after[previous] = step
    elif program.after[previous] != step:
        program.stops[previous] = 1
    if program.before[step] < 0:
        program.before[step] = previous
    elif program.before[step] != previous:
        program.leads[step] = 1


def empty_program(capacity: int) -> Program:
    """Columns for so many static instructions, of which nothing is known yet."""
    none = np.full(capacity, -1, np.int32)
    flags = [np.zeros(capacity, np.uint8) for _ in range(5)]
    ends, entry, leads, stops, guarded = flags
    hashes = np.zeros(capacity, np.uint64)
    counts = np.zeros(capacity, np.int64)
    return Program(counts, ends, none, none.copy(), entry, leads, stops, guarded, hashes, hashes.copy(), counts.copy())


def basic_blocks(program: Program, count: int) -> list[list[int]]:
    """The static instructions of each basic block; blocks in which warps begin first, then by address of the first
    instruction."""
    leaders = [i for i in range(count) if _leads(program, i)]
    blocks = []
    for leader in sorted(leaders, key=lambda i: (not program.entry[i], program.pc[i], i)):
        block = [leader]
        while not _ends_block(program, block[-1]):
            following = int(program.after[block[-1]])
            if _leads(program, following):
                break
            block.append(following)
        blocks.append(block)
    return blocks


def _leads(program: Program, i: int) -> bool:
    before = int(program.before[i])
    return bool(program.entry[i] or program.leads[i] or before < 0 or _ends_block(program, before))


def _ends_block(program: Program, i: int) -> bool:
    return bool(program.stops[i] or program.ends[i] or program.after[i] < 0)
