"""From steps to the path of a kernel: visits of basic blocks with their active lanes, and address records that carry a
mask where the instruction is predicated; and the edges that lanes took from block to block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from warpreg.sass.flow import THREAD_BLOCK, VISIT_MASK, WARP, Program, active_lanes, present_lanes
from warpreg.trace.addresses import MASK_FOLLOWS, Kind
from warpreg.trace.path import PathWord

VISIT = int(PathWord.VISIT)
AFFINE_STEP, AFFINE, STEPS = int(Kind.AFFINE_STEP), int(Kind.AFFINE), int(Kind.STEPS)
LANES = 32
NONE = -1
MOST_PATH_WORDS = 2
"""Words of path that one step becomes at most."""

DONE, WANTS_ADDRESSES, EDGES_FULL = range(3)


class Layout(NamedTuple):
    """By static instruction: its basic block (``home``), the block that begins with it (``block``, -1: none), whether
    it has an address record, the mask of its last record; by basic block, how often it was visited."""

    home: NDArray[np.int32]
    block: NDArray[np.int32]
    recorded: NDArray[np.uint8]
    mask: NDArray[np.int64]
    visits: NDArray[np.uint64]


class Edges(NamedTuple):
    """A hash set of edges ``from << 32 | to``, -1 where free, and how many there are (``size``); ``last`` is the block
    that each lane of the warp was in, -1 for none."""

    keys: NDArray[np.int64]
    size: NDArray[np.int64]
    last: NDArray[np.int64]


STEP, PREVIOUS, PREVIOUS_MASK, ACTIVE, CURRENT_MASK, VISITED_MASK, ADDRESS, PATH_OUT, ADDRESSES_OUT, THREADS = range(10)
STATE = 10
"""Length of the state: place in the steps, the warp's state as in `warpreg.sass.flow`, the mask of the last visit,
place in the addresses, words written, threads of a thread block."""


def empty_edges(capacity: int) -> Edges:
    """A set with room for half as many edges as ``capacity``, a power of two."""
    return Edges(np.full(capacity, NONE, np.int64), np.zeros(1, np.int64), np.full(LANES, NONE, np.int64))


@numba.njit
def add_edge(edges: Any, source: Any, target: Any) -> None:
    """Add an edge to a set that has room."""
    key = source << 32 | target
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & (edges.keys.size - 1)
    while edges.keys[slot] != key:
        if edges.keys[slot] < 0:
            edges.keys[slot] = key
            edges.size[0] += 1
            return
        slot = (slot + 1) & (edges.keys.size - 1)


@numba.njit
def _follow(edges: Any, block: Any, active: Any) -> None:
    """The active lanes come to a block."""
    known = NONE
    for lane in range(LANES):
        if active >> lane & 1:
            source = edges.last[lane]
            if source >= 0 and source != known:
                add_edge(edges, source, block)
                known = source
            edges.last[lane] = block


@numba.njit
def _copy_record(source: Any, start: Any, mask: Any, marked: Any, out: Any, at: Any) -> Any:
    """Copy a record, with its mask if ``marked``; where both streams go on."""
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
    elif kind == STEPS:
        words = (lanes + 1) // 2
    else:
        words = lanes if head >> 3 & 1 else 2 * lanes
    out[at] = head | MASK_FOLLOWS if marked else head
    at += 1
    if marked:
        out[at] = np.uint32(mask)
        at += 1
    for i in range(words):
        out[at + i] = source[start + 1 + i]
    return start + 1 + words, at + words


@numba.njit(cache=True)
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
    """Go through a chunk of steps and as many records as there are; why it stopped.

    ``path_out`` has room for two words a step and ``addresses_out`` for twice the words of ``addresses``.
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
