"""Compiled walks over the steps of all warps, which find the control flow and form paths.

A trace gives for each line the lanes that were active *and* whose predicate held.  Active lanes are reconstructed:
those in the mask of a branch or exit leave, the others continue.  After a reconvergence point, the mask of the next
line is taken as it is.  A mask that grows means that lanes have joined.  A line with fewer lanes than are active is
predicated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.sass.rebuild.flow import LANES, NONE, Edges, Ends, Layout, Program
from warpreg.trace.addresses import MASK_FOLLOWS, PAYLOAD_SHIFT, Kind, Offsets
from warpreg.trace.path import PathWord

VISIT, VISIT_MASK = int(PathWord.VISIT), int(PathWord.VISIT_MASK)
WARP, THREAD_BLOCK = int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
AFFINE_STEP, AFFINE, OFFSETS = int(Kind.AFFINE_STEP), int(Kind.AFFINE), int(Kind.OFFSETS)
BYTES = int(Offsets.BYTES)
BRANCH, EXIT, SYNC = int(Ends.BRANCH), int(Ends.EXIT), int(Ends.SYNC)
NEAR = 16
"""Maximum distance in bytes to the next instruction: 8 until sm_6x, with a control word before every third, then 16."""

HASH = np.uint64(0x9E3779B97F4A7C15)
MAX_PATH_WORDS = 2
"""Maximum number of path words per step."""

DONE, WANTS_ADDRESSES, EDGES_FULL = range(3)

PREVIOUS, PREVIOUS_MASK, ACTIVE, CURRENT_MASK, THREADS = range(5)
STEP, VISITED_MASK, ADDRESS, PATH_OUT, ADDRESSES_OUT = range(5, 10)
STATE = 10
"""Length of a walk's state: the warp's last static instruction (-1 at its start) and its mask, active lanes, mask of
the current step, threads per thread block.  For `contract` also position in the steps, mask of the last visit, position
in the addresses, and words written.
"""


def new_state(threads: int) -> NDArray[np.int64]:
    """The state at the start of a walk, for thread blocks of ``threads`` threads."""
    state = np.zeros(STATE, np.int64)
    state[PREVIOUS], state[THREADS] = NONE, threads
    return state


def active_lanes(program: Any, previous: Any, previous_mask: Any, active: Any, step: Any, mask: Any) -> Any:
    """The lanes active at a step: the previous ones except those that left, and at least those of the step."""
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


def present_lanes(warp: Any, threads: Any) -> Any:
    """The lanes of a warp that have a thread."""
    count = min(np.int64(32), threads - 32 * warp)
    return (np.int64(1) << count) - 1


def observe(steps: NDArray[np.uint32], program: Program, state: NDArray[np.int64]) -> None:
    """Update the program by a chunk of steps."""
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


def _meet(program: Any, previous: Any, step: Any) -> None:
    if program.after[previous] < 0:
        program.after[previous] = step
    elif program.after[previous] != step:
        program.stops[previous] = 1
    if program.before[step] < 0:
        program.before[step] = previous
    elif program.before[step] != previous:
        program.leads[step] = 1


def add_edge(edges: Any, source: Any, target: Any) -> None:
    """Add an edge to a set that has a free slot."""
    key = source << 32 | target
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & (edges.keys.size - 1)
    while edges.keys[slot] != key:
        if edges.keys[slot] < 0:
            edges.keys[slot] = key
            edges.size[0] += 1
            return
        slot = (slot + 1) & (edges.keys.size - 1)


def copy_edges(edges: Edges, wider: Edges) -> None:
    """Add the edges of one set to another."""
    for slot in range(edges.keys.size):
        if edges.keys[slot] >= 0:
            add_edge(wider, edges.keys[slot] >> 32, edges.keys[slot] & 0xFFFFFFFF)


def _follow(edges: Any, block: Any, active: Any) -> None:
    """Record the edges of the active lanes to a block."""
    known = NONE
    for lane in range(LANES):
        if active >> lane & 1:
            source = edges.last[lane]
            if source >= 0 and source != known:
                add_edge(edges, source, block)
                known = source
            edges.last[lane] = block


def _copy_record(source: Any, start: Any, mask: Any, marked: Any, out: Any, at: Any) -> Any:
    """Copy a record, with its mask if ``marked``; returns the new positions in both streams."""
    head = source[start]
    kind = head & 3
    lanes = 0
    rest = mask
    while rest:
        rest &= rest - 1
        lanes += 1
    if kind == AFFINE_STEP:
        words = 0
    elif kind == AFFINE:
        words = 3
    elif kind == OFFSETS:
        size = lanes if head >> PAYLOAD_SHIFT & 3 == BYTES else 2 * lanes
        words = 0 if lanes == 1 else (size + 3) // 4
    else:
        words = lanes if head >> PAYLOAD_SHIFT & 1 else 2 * lanes
    out[at] = head | MASK_FOLLOWS if marked else head
    at += 1
    if marked:
        out[at] = np.uint32(mask)
        at += 1
    for i in range(words):
        out[at + i] = source[start + 1 + i]
    return start + 1 + words, at + words


def contract(
    steps: NDArray[np.uint32],
    addresses: NDArray[np.uint32],
    program: Program,
    layout: Layout,
    edges: Edges,
    state: NDArray[np.int64],
    path_out: NDArray[np.uint32],
    addresses_out: NDArray[np.uint32],
) -> int:
    """Process a chunk of steps and the available address records; returns why it stopped.

    ``path_out`` must hold two words per step, ``addresses_out`` twice the words of ``addresses``.
    """
    while state[STEP] < steps.size:
        word = np.int64(steps[state[STEP]])
        kind = word & 3
        if kind >= WARP:
            state[PREVIOUS], state[ACTIVE] = NONE, present_lanes(word >> 2, state[THREADS])
            edges.last[:] = NONE
            path_out[state[PATH_OUT]] = np.uint32(word)
            state[VISITED_MASK] = NONE
            if kind == THREAD_BLOCK:
                path_out[state[PATH_OUT] + 1] = steps[state[STEP] + 1]
            state[PATH_OUT] += 1 + (kind == THREAD_BLOCK)
            state[STEP] += 1 + (kind == THREAD_BLOCK)
            continue
        step = word >> 2
        if layout.recorded[step] and state[ADDRESS] == addresses.size:
            return WANTS_ADDRESSES
        if edges.size[0] + LANES + 1 > edges.keys.size // 2:
            return EDGES_FULL
        mask = state[CURRENT_MASK]
        if kind == VISIT_MASK:
            mask = np.int64(steps[state[STEP] + 1])
        state[STEP] += 1 + (kind == VISIT_MASK)
        previous = state[PREVIOUS]
        active = active_lanes(program, previous, state[PREVIOUS_MASK], state[ACTIVE], step, mask)
        block = np.int64(layout.block[step])
        if block >= 0:
            layout.visits[block] += np.uint64(1)
            _follow(edges, block, active)
            if active == 0 and previous >= 0:
                add_edge(edges, np.int64(layout.home[previous]), block)
            if active == state[VISITED_MASK]:
                path_out[state[PATH_OUT]] = block << 2 | VISIT
                state[PATH_OUT] += 1
            else:
                path_out[state[PATH_OUT]] = block << 2 | VISIT_MASK
                path_out[state[PATH_OUT] + 1] = np.uint32(active)
                state[PATH_OUT] += 2
                state[VISITED_MASK] = active
        if layout.recorded[step]:
            marked = program.guarded[step] and mask != layout.mask[step]
            layout.mask[step] = mask
            state[ADDRESS], state[ADDRESSES_OUT] = _copy_record(
                addresses, state[ADDRESS], mask, marked, addresses_out, state[ADDRESSES_OUT]
            )
        state[PREVIOUS], state[PREVIOUS_MASK], state[ACTIVE], state[CURRENT_MASK] = step, mask, active, mask
    return DONE
