"""Loop of the feed: read path words and address words, and sort visits and records by warp and thread block.

Plain functions in the numba subset of Python.  Visits and records of a thread block are first stored in recorded order,
in *turns* of one warp each.  When a thread block ends and a warp had several turns, the turns are joined.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.timing.feed import decode
from warpreg.timing.feed.coalescer import Words
from warpreg.timing.feed.decode import (
    ACCESSES,
    BAD_BLOCK,
    BAD_WARP,
    BASIC_BLOCKS,
    BATCH_FULL,
    CUT,
    DONE,
    END,
    ENOUGH,
    INDEX,
    MASK_NOW,
    NEED_PATH,
    SITE,
    SITE_END,
    TURNS_FULL,
    WARP_NOW,
    WARPS,
)
from warpreg.trace.path import PathWord

VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)

PATH_AT, OPEN, VISITS, TURNS, FIRST, BLOCKS, VISITS_DONE, ACCESSES_DONE, OWN_STATE = range(
    decode.OWN_STATE, decode.OWN_STATE + 9
)
"""Columns of ``state``: position of reading; whether there is a thread block; ends of its visits, records and turns in
the batch; index of the first thread block of the batch; number of complete ones, and the ends of their parts.
"""

PATH_WORDS, VISIT_ROOM, TURN_ROOM, WARP_ROOM, STATE_WORDS = range(OWN_STATE, OWN_STATE + 5)
"""Columns of ``rules``: words of the path, and the capacity of the batch for visits, turns, and warps of complete
thread blocks.
"""


class Streams(NamedTuple):
    """Input: chunks of the path and of the addresses; first row of ``sites`` by basic block; the rules of `decode`;
    working storage.
    """

    path: NDArray[np.uint32]
    addresses: NDArray[np.uint32]
    state: Words
    first_site: NDArray[np.int32]
    sites: NDArray[np.int64]
    rules: Words
    lanes: Words
    scratch: Words


class Batch(NamedTuple):
    """Complete thread blocks, then the incomplete one; see `warpreg.timing.feed.feed.ThreadBlocks`.

    ``turns`` int64[n, 3] of the incomplete one, relative to its start: warp, end in ``visits``, end in ``accesses``.
    ``masks`` is the active mask of each of its warps.  ``aside`` can hold its part of the batch, ``cursors`` two words
    per warp.
    """

    visits: Words
    visit_start: Words
    accesses: Words
    access_start: Words
    turns: NDArray[np.int64]
    masks: Words
    aside: Words
    cursors: Words


def opened_streams(streams: Streams) -> Streams:
    """Replaced by `piecewise_numba.bare_arrays.bare` with the widths of the arrays."""
    return streams


def opened_batch(batch: Batch) -> Batch:
    """Replaced in the same way."""
    return batch


def split(streams: Streams, batch: Batch) -> int:
    """`split_bare` on ordinary arrays."""
    return split_bare(opened_streams(streams), opened_batch(batch))


def split_bare(streams: Streams, batch: Batch) -> int:
    """Continue from ``state`` until input or capacity is missing; returns which."""
    path, state, first_site, rules = streams.path, streams.state, streams.first_site, streams.rules
    visits = batch.visits
    at = state[PATH_AT]
    visit = state[VISITS]
    mask = state[MASK_NOW]
    status = DONE
    while status == DONE:
        if state[SITE] < state[SITE_END]:
            status = decode.append(
                streams.addresses, state, streams.sites, rules, batch.accesses, streams.lanes, streams.scratch
            )
            continue
        if at >= state[PATH_WORDS]:
            status = NEED_PATH
            continue
        word: Any = np.int64(path[at])
        kind = word & 3
        payload = word >> 2
        if kind & 1 and at + 1 >= state[PATH_WORDS]:
            status = CUT
        elif kind < WARP:
            if payload >= rules[BASIC_BLOCKS]:
                status = BAD_BLOCK
            elif visit >= state[VISIT_ROOM]:
                status = BATCH_FULL
            else:
                at += 1
                if kind == VISIT_MASK:
                    mask = np.int64(path[at])
                    at += 1
                visits[visit] = payload << 32 | mask
                visit += 1
                if first_site[payload] < first_site[payload + 1]:
                    state[SITE] = first_site[payload]
                    state[SITE_END] = first_site[payload + 1]
                    state[MASK_NOW] = mask
        else:
            state[VISITS], state[MASK_NOW] = visit, mask
            if kind == WARP:
                status = _warp(payload, state, rules, batch)
            else:
                status = _thread_block(path[at + 1], state, rules, batch)
            mask = state[MASK_NOW]
            if status == DONE:
                at += 1 if kind == WARP else 2
    state[PATH_AT] = at
    state[VISITS] = visit
    state[MASK_NOW] = mask
    return status


def _warp(warp: int, state: Words, rules: Words, batch: Batch) -> int:
    """Select the warp of the following visits."""
    if warp >= rules[WARPS]:
        return BAD_WARP
    if state[TURNS] + 2 > state[TURN_ROOM]:
        return TURNS_FULL
    _end_turn(state, batch)
    batch.masks[state[WARP_NOW]] = state[MASK_NOW]
    state[MASK_NOW] = batch.masks[warp]
    state[WARP_NOW] = warp
    return DONE


def _thread_block(index: int, state: Words, rules: Words, batch: Batch) -> int:
    """End the previous thread block and begin a new one."""
    if state[OPEN] == 1:
        _end_block(state, rules, batch)
    if index >= rules[END]:
        return ENOUGH
    if (state[BLOCKS] + 1) * rules[WARPS] > state[WARP_ROOM]:
        return BATCH_FULL
    state[INDEX] = index
    if state[BLOCKS] == 0:
        state[FIRST] = index
    state[OPEN] = 1
    return DONE


def _end_turn(state: Words, batch: Batch) -> None:
    """Record the end of the current turn."""
    turn = state[TURNS]
    visit = state[VISITS] - state[VISITS_DONE]
    if visit > (batch.turns[turn - 1, 1] if turn > 0 else 0):
        batch.turns[turn, 0] = state[WARP_NOW]
        batch.turns[turn, 1] = visit
        batch.turns[turn, 2] = state[ACCESSES] - state[ACCESSES_DONE]
        state[TURNS] += 1


def _end_block(state: Words, rules: Words, batch: Batch) -> None:
    """Complete the current thread block: sort its part of the batch by warp."""
    _end_turn(state, batch)
    turns, cursors = batch.turns, batch.cursors
    warps = rules[WARPS]
    for warp in range(2 * warps):
        cursors[warp] = 0
    in_order = 1
    before = -1
    visit, access = 0, 0
    for turn in range(state[TURNS]):
        warp = turns[turn, 0]
        cursors[2 * warp] += turns[turn, 1] - visit
        cursors[2 * warp + 1] += turns[turn, 2] - access
        visit, access = turns[turn, 1], turns[turn, 2]
        if warp <= before:
            in_order = 0
        before = warp
    row = state[BLOCKS] * warps
    visit, access = state[VISITS_DONE], state[ACCESSES_DONE]
    for warp in range(warps):
        batch.visit_start[row + warp] = visit
        batch.access_start[row + warp] = access
        visit, cursors[2 * warp] = visit + cursors[2 * warp], visit
        access, cursors[2 * warp + 1] = access + cursors[2 * warp + 1], access
    batch.visit_start[row + warps] = visit
    batch.access_start[row + warps] = access
    if in_order == 0:
        _put_together(batch.visits, state[VISITS_DONE], state[VISITS], 0, state[TURNS], batch)
        _put_together(batch.accesses, state[ACCESSES_DONE], state[ACCESSES], 1, state[TURNS], batch)
    state[BLOCKS] += 1
    state[VISITS_DONE], state[ACCESSES_DONE] = visit, access
    state[TURNS] = 0
    state[OPEN] = 0


def _put_together(words: Words, begin: int, end: int, column: int, turns: int, batch: Batch) -> None:
    """Move the turns of ``words[begin:end]`` to the cursors of their warps."""
    aside = batch.aside
    for place in range(end - begin):
        aside[place] = words[begin + place]
    place = 0
    for turn in range(turns):
        cursor = 2 * batch.turns[turn, 0] + column
        to = batch.cursors[cursor]
        through = batch.turns[turn, 1 + column]
        batch.cursors[cursor] = to + through - place
        while place < through:
            words[to] = aside[place]
            place += 1
            to += 1
