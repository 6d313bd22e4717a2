"""Loops of `warpreg.trace.expanded_path`: read visits of whole thread blocks, write them with those of new blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.path import PathWord

Words = NDArray[np.uint32]
Longs = NDArray[np.int64]

WARPS, LANES, STACK = 64, 32, 256
"""Warps of a thread block, lanes of a warp, and diverged regions of a warp at a time, at most."""
VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
NONE = -1
GOTO, BRANCH, EXIT, GUARDED_EXIT, INDIRECT = range(5)
"""How a block ends; a barrier goes on like any block that falls through."""
OK, FULL, WRONG = range(3)
WRITTEN, OUT_WARP, AT = range(3)
PROGRESS = 3
"""Length of ``progress``: words written, the warp whose visits are written, and the visit that is expanded."""


def last_head(words: Words) -> int:
    """Where the last thread block of a chunk begins, NONE without one.

    A mask or an index may look like the word that says so.
    """
    position, last = 0, NONE
    while position < words.size:
        kind: Any = np.int64(words[position]) & 3
        if kind == THREAD_BLOCK:
            last = position
        position += 1 + (kind & 1)
    return last


class Flow(NamedTuple):
    """A kernel with ``old`` int64[1] blocks that were recorded, then those on edges.

    By block int64: ``kind``; ``first`` and ``fall``, the target of a branch and the block that follows otherwise;
    ``meet``, where diverged lanes meet; ``old_first``, the old block to which ``first`` leads.  The ways of block ``b``
    to old blocks through new ones are rows ``way_start[b]`` to ``way_start[b + 1]``: the old block ``way_to``, and the
    first new block ``way``.
    """

    old: Longs
    kind: Longs
    first: Longs
    fall: Longs
    meet: Longs
    old_first: Longs
    way_start: Longs
    way_to: Longs
    way: Longs


class Visits(NamedTuple):
    """Visits in the order of the path, int64.  A thread block begins with one of block NONE; its ``mask`` is the index.

    ``went``: lanes that visit another block afterwards; ``taken``: those of them that visit ``Flow.old_first``.
    """

    warp: Longs
    block: Longs
    mask: Longs
    went: Longs
    taken: Longs


class Warps(NamedTuple):
    """By warp, int64: ``block``, ``mask``, ``alive`` lanes, the block ``meet`` that ends the region, ``depth`` of the
    ``stack`` [depth, 3]: meet, block and mask of lanes that wait.  ``last`` [lane]: the last visit, or old block, of a
    lane.  ``shown``: the mask that was written last.
    """

    block: Longs
    mask: Longs
    alive: Longs
    meet: Longs
    depth: Longs
    stack: Longs
    last: Longs
    shown: Longs


def new_visits(most: int) -> Visits:
    """Room for so many visits."""
    return Visits(*(np.zeros(most, np.int64) for _ in Visits._fields))


def new_warps() -> Warps:
    """Room for the warps of a thread block."""
    block, mask, alive, meet, depth, shown = (np.zeros(WARPS, np.int64) for _ in range(6))
    stack, last = np.zeros((WARPS, STACK, 3), np.int64), np.zeros((WARPS, LANES), np.int64)
    return Warps(block, mask, alive, meet, depth, stack, last, shown)


def least_room(flow: Flow) -> int:
    """Words that one visit may take, with all new blocks before it."""
    return int(3 * (STACK + LANES * (1 + flow.kind.size - flow.old[0])))


def by_driver() -> bool:
    """Whether the executor ran the kernel; a constant of the compiled loop."""
    return True


def by_hardware() -> bool:
    """In place of `by_driver` for a hardware trace."""
    return False


def expand(words: Words, flow: Flow, visits: Visits, warps: Warps, progress: Longs, out: Words) -> int:
    """Write the visits of whole thread blocks with those of new blocks; FULL if ``out`` has no room, WRONG for another
    kernel's path.
    """
    count = read_visits(words, visits, warps, flow.old[0])
    if count < 0:
        return WRONG
    if by_driver():
        link(count, flow, visits, warps)
    begin_thread_block(warps, progress)
    status = OK
    for at in range(count):
        progress[AT] = at
        if progress[WRITTEN] + least_room(flow) > out.size:
            return FULL
        warp: Any = visits.warp[at]
        if visits.block[at] == NONE:
            begin_thread_block(warps, progress)
            put(progress, out, THREAD_BLOCK)
            put(progress, out, visits.mask[at])
        elif by_driver():
            status = follow_driver(flow, visits, warps, warp, at, count, progress, out)
        else:
            follow_lanes(flow, visits, warps, warp, at, progress, out)
        if status != OK:
            return status
    return OK


def read_visits(words: Words, visits: Visits, warps: Warps, blocks: int) -> int:
    """Decode the path; returns the number of visits, NONE for words that are no path of this number of blocks."""
    warps.shown[:] = 0
    count = 0
    position = 0
    warp: Any = np.int64(0)
    while position < words.size:
        word: Any = np.int64(words[position])
        kind, payload = word & 3, word >> 2
        position += 1 + (kind & 1)
        if position > words.size or (kind == WARP and payload >= WARPS) or (kind < WARP and payload >= blocks):
            return NONE
        if kind == WARP:
            warp = payload
            continue
        if kind == THREAD_BLOCK:
            warps.shown[:] = 0
            visits.block[count] = NONE
            visits.mask[count] = words[position - 1]
        else:
            if kind == VISIT_MASK:
                warps.shown[warp] = words[position - 1]
            visits.block[count] = payload
            visits.mask[count] = warps.shown[warp]
        visits.warp[count] = warp
        visits.went[count] = 0
        visits.taken[count] = 0
        count += 1
    return count


def link(count: int, flow: Flow, visits: Visits, warps: Warps) -> None:
    """Find which way the lanes of each visit went: the next block that each of them visits.

    ``warps.block`` is the visit of the warp before; ``warps.last`` is the last visit of a lane that is not in that one.
    """
    warps.block[:] = NONE
    warps.last[:] = NONE
    for at in range(count):
        block = visits.block[at]
        if block == NONE:
            warps.block[:] = NONE
            warps.last[:] = NONE
            continue
        warp, mask = visits.warp[at], visits.mask[at]
        before = warps.block[warp]
        there = visits.mask[before] if before != NONE else 0
        if there & mask:
            note_way(flow, visits, before, there & mask, block)
        if there != mask:
            for lane in range(LANES):
                if mask & ~there & 1 << lane and warps.last[warp, lane] != NONE:
                    note_way(flow, visits, warps.last[warp, lane], 1 << lane, block)
                elif there & ~mask & 1 << lane:
                    warps.last[warp, lane] = before
        warps.block[warp] = at


def note_way(flow: Flow, visits: Visits, at: int, lanes: int, block: int) -> None:
    """Lanes of a visit go on to a block."""
    visits.went[at] |= lanes
    if flow.old_first[visits.block[at]] == block:
        visits.taken[at] |= lanes


def begin_thread_block(warps: Warps, progress: Longs) -> None:
    """No warp has visited anything."""
    warps.block[:] = NONE
    warps.last[:] = NONE
    warps.shown[:] = 0
    progress[OUT_WARP] = NONE


def follow_driver(
    flow: Flow, visits: Visits, warps: Warps, warp: int, at: int, count: int, progress: Longs, out: Words
) -> int:
    """The warp visits what comes before visit ``at``, and that one."""
    if warps.block[warp] == NONE:
        warps.block[warp] = 0
        warps.mask[warp] = visits.mask[at]
        warps.alive[warp] = visits.mask[at]
        warps.meet[warp] = NONE
        warps.depth[warp] = 0
    while warps.block[warp] >= flow.old[0] and warps.mask[warp] != 0:
        if progress[WRITTEN] + 3 > out.size:
            return FULL
        put_visit(warps, warp, warps.block[warp], warps.mask[warp], progress, out)
        if not leave(flow, visits, warps, warp, NONE, count):
            return WRONG
    if warps.block[warp] != visits.block[at] or warps.mask[warp] != visits.mask[at]:
        return WRONG
    put_visit(warps, warp, visits.block[at], visits.mask[at], progress, out)
    return OK if leave(flow, visits, warps, warp, at, count) else WRONG


def leave(flow: Flow, visits: Visits, warps: Warps, warp: int, at: int, count: int) -> bool:
    """The warp leaves its block as it left it in visit ``at`` (NONE: a new block); False if it cannot."""
    block, mask = warps.block[warp], warps.mask[warp]
    kind = flow.kind[block]
    fits = True
    if kind == BRANCH:
        taken = visits.taken[at]
        if taken == mask:
            warps.block[warp] = flow.first[block]
        elif taken == 0:
            warps.block[warp] = flow.fall[block]
        else:
            fits = diverge(flow, warps, warp, block, taken)
    elif kind == EXIT:
        warps.alive[warp] &= ~mask
        warps.mask[warp] = 0
    elif kind == GUARDED_EXIT:
        warps.alive[warp] &= ~mask | visits.went[at]
        warps.mask[warp] = mask & visits.went[at]
        warps.block[warp] = flow.fall[block]
    elif kind == INDIRECT:
        fits = scatter(flow, visits, warps, warp, at, count)
    else:
        warps.block[warp] = flow.fall[block]
    if fits and warps.block[warp] == warps.meet[warp]:
        fits = pop(warps, warp)
    while fits and warps.mask[warp] == 0 and warps.depth[warp] > 0:
        fits = pop(warps, warp)
    return fits


def diverge(flow: Flow, warps: Warps, warp: int, block: int, taken: int) -> bool:
    """Some lanes take the branch; those that fall through go first."""
    stay = warps.mask[warp] & ~taken
    fits = meet_at(warps, warp, flow.meet[block])
    first, fall = flow.first[block], flow.fall[block]
    if fall == warps.meet[warp]:
        warps.block[warp] = first
        warps.mask[warp] = taken
        return fits
    if first != warps.meet[warp]:
        fits = push(warps, warp, warps.meet[warp], first, taken) and fits
    warps.block[warp] = fall
    warps.mask[warp] = stay
    return fits


def scatter(flow: Flow, visits: Visits, warps: Warps, warp: int, at: int, count: int) -> bool:
    """Each lane goes to a block of a table; the group whose highest lane is the lowest goes first."""
    block = warps.block[warp]
    fits = meet_at(warps, warp, flow.meet[block])
    rest: Any = visits.went[at]
    warps.mask[warp] = 0
    while rest != 0:
        group, target = 0, NONE
        for lane in range(LANES - 1, -1, -1):
            if rest >> lane & 1:
                own = way_of(flow, block, next_block(visits, warp, lane, at, count))
                if target == NONE:
                    target = own
                if own == target:
                    group |= 1 << lane
        rest &= ~group
        if target == warps.meet[warp]:
            continue
        if warps.mask[warp] != 0:
            fits = push(warps, warp, warps.meet[warp], warps.block[warp], warps.mask[warp]) and fits
        warps.block[warp] = target
        warps.mask[warp] = group
    return fits


def next_block(visits: Visits, warp: int, lane: int, at: int, count: int) -> int:
    """The old block that a lane visits after visit ``at``."""
    for later in range(at + 1, count):
        if visits.warp[later] == warp and visits.mask[later] >> lane & 1:
            return int(visits.block[later])
    return NONE


def way_of(flow: Flow, block: int, successor: int) -> int:
    """The first block on the way from an old block to another one: a new block, or the other one itself."""
    for row in range(flow.way_start[block], flow.way_start[block + 1]):
        if flow.way_to[row] == successor:
            return int(flow.way[row])
    return successor


def meet_at(warps: Warps, warp: int, meet: int) -> bool:
    """Open a region that ends at ``meet``, unless lanes do not meet or the region around it ends there too."""
    if meet == NONE or meet == warps.meet[warp]:
        return True
    fits = push(warps, warp, warps.meet[warp], meet, warps.mask[warp])
    warps.meet[warp] = meet
    return fits


def push(warps: Warps, warp: int, meet: int, block: int, mask: int) -> bool:
    """Lanes wait; False if there is no room."""
    depth = warps.depth[warp]
    if depth == STACK:
        return False
    warps.stack[warp, depth, 0] = meet
    warps.stack[warp, depth, 1] = block
    warps.stack[warp, depth, 2] = mask
    warps.depth[warp] = depth + 1
    return True


def pop(warps: Warps, warp: int) -> bool:
    """The lanes that began to wait last go on; False if none wait."""
    depth = warps.depth[warp] - 1
    if depth < 0:
        return False
    warps.depth[warp] = depth
    warps.meet[warp] = warps.stack[warp, depth, 0]
    warps.block[warp] = warps.stack[warp, depth, 1]
    warps.mask[warp] = warps.stack[warp, depth, 2] & warps.alive[warp]
    return True


def follow_lanes(flow: Flow, visits: Visits, warps: Warps, warp: int, at: int, progress: Longs, out: Words) -> None:
    """The warp visits the new blocks on the ways of the lanes of visit ``at``, and then that one."""
    block, mask = visits.block[at], visits.mask[at]
    rest: Any = mask
    while rest != 0:
        group, way = 0, NONE
        for lane in range(LANES):
            if rest >> lane & 1:
                before = warps.last[warp, lane]
                own = way_of(flow, before, block) if before != NONE else block
                if way == NONE:
                    way = own
                if own == way:
                    group |= 1 << lane
        rest &= ~group
        while way >= flow.old[0]:
            put_visit(warps, warp, way, group, progress, out)
            way = flow.fall[way]
    for lane in range(LANES):
        if mask >> lane & 1:
            warps.last[warp, lane] = block
    put_visit(warps, warp, block, mask, progress, out)


def put_visit(warps: Warps, warp: int, block: int, mask: int, progress: Longs, out: Words) -> None:
    """Write a visit, after a change of the warp."""
    if progress[OUT_WARP] != warp:
        put(progress, out, WARP | warp << 2)
        progress[OUT_WARP] = warp
    if mask != warps.shown[warp]:
        put(progress, out, VISIT_MASK | block << 2)
        put(progress, out, mask)
        warps.shown[warp] = mask
    else:
        put(progress, out, block << 2)


def put(progress: Longs, out: Words, word: int) -> None:
    """Write one word."""
    out[progress[WRITTEN]] = word
    progress[WRITTEN] += 1
