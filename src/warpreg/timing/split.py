"""The feed's loop: reads path words and address words, and leaves what each warp did, thread block by thread block.

Plain functions in the numba subset of Python.  A thread block's visits and records first go to a log in the order in
which they ran, in *turns* of one warp each; when the thread block ends, the turns of each warp are put together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.timing import access_record as record
from warpreg.timing import coalesce
from warpreg.timing.coalesce import Words
from warpreg.timing.sites import Sites
from warpreg.trace.addresses import MASK_FOLLOWS, PAYLOAD_SHIFT, Kind
from warpreg.trace.path import PathWord

AFFINE, STEPS = int(Kind.AFFINE), int(Kind.STEPS)
VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
GLOBAL, SHARED, LOCAL, CONSTANT, GENERIC = (
    record.GLOBAL,
    record.SHARED,
    record.LOCAL,
    record.CONSTANT,
    record.GENERIC,
)
FULL = 0xFFFFFFFF

NEED_PATH, NEED_ADDRESSES, LOG_FULL, BATCH_FULL, BAD_BLOCK, BAD_WARP, CUT, GO_ON = range(8)
"""Why the loop stopped."""

PATH_AT, ADDRESS_AT, WARP_NOW, SITE, SITE_END, INDEX, OPEN = range(7)
VISITS, RECORDS, TURNS, OUT_VISITS, OUT_ACCESSES, OUT_BLOCKS, FIRST = range(7, 14)
STATE_WORDS = 14
"""Positions in ``state``: where reading stands; the thread block's index and whether there is one; lengths of the log's
parts; lengths of what is put together, and the index of its first thread block."""

LONGEST_RECORD = record.HEADER_WORDS + 512
"""Words; 32 lanes of up to 32 bytes in local memory make 256 lines."""

MASK, BASE, STRIDE = range(3)
"""Rows of ``memory``, int64[3, sites]: what each instruction's last record left behind (`warpreg.trace.addresses`)."""


class Rules(NamedTuple):
    """``warps`` of a thread block; log2 of the bytes of a bank of
    shared memory; ``frame_bytes`` of local memory of a warp, and
    ``frames``, after how many thread blocks its places are used again; bounds of the windows of generic addresses."""

    warps: int
    banks: int
    bank_shift: int
    frame_bytes: int
    frames: int
    shared_window: int
    local_window: int
    window_bytes: int


class Log(NamedTuple):
    """Of the current thread block: ``visits`` and ``records`` as they ran, ``turns`` int64[n, 3] of warp, end in
    ``visits``, end in ``records``."""

    visits: Words
    records: Words
    turns: NDArray[np.int64]


class Scratch(NamedTuple):
    """Lane addresses int64[32], what `coalesce.conflicts` needs, and two places for each warp of a thread block."""

    lanes: Words
    seen: Words
    cursors: Words


class Batch(NamedTuple):
    """Whole thread blocks; see `warpreg.timing.feed.ThreadBlocks`."""

    visits: Words
    visit_start: Words
    accesses: Words
    access_start: Words


def split(
    path: NDArray[np.uint32],
    addresses: NDArray[np.uint32],
    state: Words,
    masks: Words,
    memory: NDArray[np.int64],
    sites: Sites,
    rules: Rules,
    log: Log,
    batch: Batch,
    scratch: Scratch,
) -> int:
    """Go on from ``state`` until something is missing; returns what."""
    while True:
        while state[SITE] < state[SITE_END]:
            if state[ADDRESS_AT] >= addresses.size:
                return NEED_ADDRESSES
            if state[RECORDS] + LONGEST_RECORD > log.records.size:
                return LOG_FULL
            if _access(addresses, state, masks, memory, sites, rules, log.records, scratch) == 0:
                return CUT
            state[SITE] += 1
        if state[PATH_AT] >= path.size:
            return NEED_PATH
        status = _path_word(path, state, masks, sites, rules, log, batch, scratch)
        if status != GO_ON:
            return status


def _path_word(
    path: NDArray[np.uint32],
    state: Words,
    masks: Words,
    sites: Sites,
    rules: Rules,
    log: Log,
    batch: Batch,
    scratch: Scratch,
) -> int:
    """Take up the next word of the path, with what belongs to it."""
    word: Any = np.int64(path[state[PATH_AT]])
    kind = word & 3
    payload = word >> 2
    if kind & 1 and state[PATH_AT] + 1 >= path.size:
        return CUT
    if kind == THREAD_BLOCK:
        if state[OPEN] == 1 and _put_together(state, rules.warps, log, batch, scratch) == 0:
            return BATCH_FULL
        state[INDEX] = path[state[PATH_AT] + 1]
        if state[OUT_BLOCKS] == 0:
            state[FIRST] = state[INDEX]
        state[OPEN] = 1
        state[PATH_AT] += 2
    elif kind == WARP:
        if payload >= rules.warps:
            return BAD_WARP
        if state[TURNS] + 1 >= log.turns.shape[0]:
            return LOG_FULL
        _end_turn(state, log)
        state[WARP_NOW] = payload
        state[PATH_AT] += 1
    else:
        if payload + 1 >= sites.first.size:
            return BAD_BLOCK
        if state[VISITS] >= log.visits.size:
            return LOG_FULL
        state[PATH_AT] += 1
        if kind == VISIT_MASK:
            masks[state[WARP_NOW]] = path[state[PATH_AT]]
            state[PATH_AT] += 1
        log.visits[state[VISITS]] = payload << 32 | masks[state[WARP_NOW]]
        state[VISITS] += 1
        state[SITE] = sites.first[payload]
        state[SITE_END] = sites.first[payload + 1]
    return GO_ON


def _end_turn(state: Words, log: Log) -> None:
    """Note the end of what the current warp has done since it was named."""
    turn = state[TURNS]
    before = log.turns[turn - 1, 1] if turn > 0 else 0
    if state[VISITS] > before:
        log.turns[turn, 0] = state[WARP_NOW]
        log.turns[turn, 1] = state[VISITS]
        log.turns[turn, 2] = state[RECORDS]
        state[TURNS] += 1


def _put_together(state: Words, warps: int, log: Log, batch: Batch, scratch: Scratch) -> int:
    """End the thread block: append it to the batch, warp by warp; 0 where there is no room (nothing has changed then,
    and a thread block that does not fit an empty batch never will)."""
    row = state[OUT_BLOCKS] * warps
    if (
        row + warps + 1 > batch.visit_start.size
        or state[OUT_VISITS] + state[VISITS] > batch.visits.size
        or state[OUT_ACCESSES] + state[RECORDS] > batch.accesses.size
    ):
        return 0
    _end_turn(state, log)
    _starts(state, warps, log, batch, scratch)
    visit, access = 0, 0
    for turn in range(state[TURNS]):
        at = 2 * log.turns[turn, 0]
        to = scratch.cursors[at]
        while visit < log.turns[turn, 1]:
            batch.visits[to] = log.visits[visit]
            visit += 1
            to += 1
        scratch.cursors[at] = to
        to = scratch.cursors[at + 1]
        while access < log.turns[turn, 2]:
            batch.accesses[to] = log.records[access]
            access += 1
            to += 1
        scratch.cursors[at + 1] = to
    state[OUT_VISITS] += state[VISITS]
    state[OUT_ACCESSES] += state[RECORDS]
    state[OUT_BLOCKS] += 1
    state[VISITS] = 0
    state[RECORDS] = 0
    state[TURNS] = 0
    state[OPEN] = 0
    return 1


def _starts(state: Words, warps: int, log: Log, batch: Batch, scratch: Scratch) -> None:
    """Where each warp's part begins, in the batch's rows and as the cursors of its copy."""
    for place in range(2 * warps):
        scratch.cursors[place] = 0
    visit, access = 0, 0
    for turn in range(state[TURNS]):
        at = 2 * log.turns[turn, 0]
        scratch.cursors[at] += log.turns[turn, 1] - visit
        scratch.cursors[at + 1] += log.turns[turn, 2] - access
        visit, access = log.turns[turn, 1], log.turns[turn, 2]
    row = state[OUT_BLOCKS] * warps
    visit, access = state[OUT_VISITS], state[OUT_ACCESSES]
    for warp in range(warps):
        at = 2 * warp
        batch.visit_start[row + warp] = visit
        batch.access_start[row + warp] = access
        visit, scratch.cursors[at] = visit + scratch.cursors[at], visit
        access, scratch.cursors[at + 1] = access + scratch.cursors[at + 1], access
    batch.visit_start[row + warps] = visit
    batch.access_start[row + warps] = access


def _access(
    words: NDArray[np.uint32],
    state: Words,
    masks: Words,
    memory: NDArray[np.int64],
    sites: Sites,
    rules: Rules,
    out: Words,
    scratch: Scratch,
) -> int:
    """Decode one record and append what the load-store unit makes of it; 0 if the words end inside it."""
    site = state[SITE]
    at = state[ADDRESS_AT]
    size = words.size
    head: Any = np.int64(words[at])
    at += 1
    mask = masks[state[WARP_NOW]]
    if head & MASK_FOLLOWS:
        if at >= size:
            return 0
        memory[MASK, site] = words[at]
        at += 1
    if sites.guarded[site] == 1:
        mask = memory[MASK, site]
    kind = head & 3
    payload = _signed(head) >> PAYLOAD_SHIFT
    header = state[RECORDS]
    if kind < STEPS:
        if kind == AFFINE:
            if at + 3 > size:
                return 0
            memory[BASE, site] = np.int64(words[at]) | np.int64(words[at + 1]) << 32
            memory[STRIDE, site] = _signed(words[at + 2])
            at += 3
        else:
            memory[BASE, site] += payload
        out[header + 2] = memory[STRIDE, site]
    else:
        count = _lanes_in(mask)
        taken = (count + 1) // 2 if kind == STEPS else count if payload & 1 else 2 * count
        if at + taken > size:
            return 0
        if kind == STEPS:
            memory[BASE, site] += payload
            _steps(words, at, mask, memory[BASE, site], sites.unit[site], scratch.lanes)
        else:
            _each(words, at, mask, payload & 1, scratch.lanes)
            memory[BASE, site] = scratch.lanes[_first_lane(mask)]
        at += taken
        out[header + 2] = record.IRREGULAR
    out[header + 1] = memory[BASE, site]
    state[ADDRESS_AT] = at
    if kind >= STEPS or _usual(mask, state, sites, rules, out) == 0:
        _general(mask, state, sites, rules, out, scratch)
    return 1


def _usual(mask: int, state: Words, sites: Sites, rules: Rules, out: Words) -> int:
    """Finish an affine record of one of the usual shapes without looking at each lane; 0 if it is none of them."""
    site = state[SITE]
    header = state[RECORDS]
    start = header + record.HEADER_WORDS
    base = out[header + 1]
    stride = out[header + 2]
    size = sites.size[site]
    space = _space(sites.space[site], base + stride * _first_lane(mask), rules)
    count = 0
    written = 0
    if mask == 0:
        pass
    elif space == SHARED:
        if mask == FULL and sites.atomic[site] == 0:
            count = coalesce.row_conflicts(stride, size, rules.banks, rules.bank_shift) * sites.repeat[site]
    elif stride == 0:
        if space == CONSTANT:
            count = 1
        elif space == LOCAL:
            offset = base - rules.local_window if sites.space[site] == GENERIC else base
            written = coalesce.local_rows(offset, mask, size, _frame(state, rules), out, start)
        else:
            written = coalesce.row_lines(base, size, out, start)
    elif stride == size and mask == FULL and space != CONSTANT and space != LOCAL:
        written = coalesce.row_lines(base, 32 * size, out, start)
    if count + written == 0 and mask != 0:
        return 0
    _finish(space, mask, count + written, written, state, out)
    return 1


def _general(mask: int, state: Words, sites: Sites, rules: Rules, out: Words, scratch: Scratch) -> None:
    """Finish a record lane by lane; ``scratch.lanes`` holds the addresses of an irregular one."""
    site = state[SITE]
    header = state[RECORDS]
    start = header + record.HEADER_WORDS
    size = sites.size[site]
    base = out[header + 1]
    stride = out[header + 2]
    lanes = scratch.lanes
    is_affine = 0 if stride == record.IRREGULAR else 1
    if is_affine == 1:
        for lane in range(32):
            lanes[lane] = base + lane * stride
    space = _space(sites.space[site], lanes[_first_lane(mask)], rules)
    if sites.space[site] == GENERIC and space != GLOBAL:
        window = rules.local_window if space == LOCAL else rules.shared_window
        for lane in range(32):
            lanes[lane] -= window
    count = 0
    written = 0
    if space == SHARED:
        merged = 1 - sites.atomic[site]
        count = (
            coalesce.conflicts(lanes, mask, size, rules.banks, rules.bank_shift, merged, scratch.seen)
            * sites.repeat[site]
        )
    elif space == CONSTANT:
        count = coalesce.different(lanes, mask)
    elif space == LOCAL:
        written = coalesce.local_lines(lanes, mask, size, _frame(state, rules), out, start)
    else:
        written = coalesce.lines(lanes, mask, size, is_affine, out, start)
    _finish(space, mask, count + written, written, state, out)


def _finish(space: int, mask: int, count: int, written: int, state: Words, out: Words) -> None:
    """Write the head of a record whose ``written`` lines stand behind it, and go to its end."""
    out[state[RECORDS]] = mask | space << record.SPACE_SHIFT | count << record.TRANSACTIONS_SHIFT
    state[RECORDS] += record.HEADER_WORDS + written


def _frame(state: Words, rules: Rules) -> int:
    """Where the local memory of the current warp lies."""
    place: int = state[INDEX] % rules.frames * rules.warps + state[WARP_NOW]
    return record.LOCAL_BASE + place * rules.frame_bytes


def _space(declared: int, address: int, rules: Rules) -> int:
    """The space that an address lies in."""
    if declared != GENERIC:
        return declared
    if rules.shared_window <= address < rules.shared_window + rules.window_bytes:
        return SHARED
    if rules.local_window <= address < rules.local_window + rules.window_bytes:
        return LOCAL
    return GLOBAL


def _steps(words: NDArray[np.uint32], at: int, mask: int, base: int, unit: int, lanes: Words) -> None:
    """Lane addresses from 16-bit steps."""
    half = 0
    address = base
    for lane in range(32):
        if mask >> lane & 1:
            step: Any = np.int64(words[at + (half >> 1)]) >> (16 * (half & 1)) & 0xFFFF
            address += unit * (step - 0x10000 if step >= 0x8000 else step)
            lanes[lane] = address
            half += 1


def _each(words: NDArray[np.uint32], at: int, mask: int, is_short: int, lanes: Words) -> None:
    """Lane addresses as they are."""
    for lane in range(32):
        if mask >> lane & 1:
            lanes[lane] = np.int64(words[at])
            at += 1
            if is_short == 0:
                lanes[lane] |= np.int64(words[at]) << 32
                at += 1


def _lanes_in(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


def _first_lane(mask: int) -> int:
    for lane in range(32):
        if mask >> lane & 1:
            return lane
    return 0


def _signed(unsigned: Any) -> Any:
    """The signed number in a word of 32 bits."""
    word = np.int64(unsigned)
    return word - (1 << 32) if word >= 1 << 31 else word
