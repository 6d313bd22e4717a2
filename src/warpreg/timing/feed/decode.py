"""Decode recorded addresses into access records, one for each memory instruction of a visit.

Plain functions in the numba subset of Python that allocate nothing; part of the loop of the feed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.timing.core import access_record as record
from warpreg.timing.feed import coalescer
from warpreg.timing.feed.coalescer import Words, lanes_in
from warpreg.trace.addresses import MASK_FOLLOWS, OFFSETS_BITS, PAYLOAD_SHIFT, Kind, Offsets

AFFINE, OFFSETS = int(Kind.AFFINE), int(Kind.OFFSETS)
BYTES, RAMP = int(Offsets.BYTES), int(Offsets.RAMP)
GLOBAL, SHARED, LOCAL, CONSTANT, GENERIC, TEXTURE = (
    record.GLOBAL,
    record.SHARED,
    record.LOCAL,
    record.CONSTANT,
    record.GENERIC,
    record.TEXTURE,
)
FULL = 0xFFFFFFFF

DONE, ENOUGH, NEED_PATH, NEED_ADDRESSES, BATCH_FULL, TURNS_FULL, BAD_BLOCK, BAD_WARP, CUT = range(9)
"""Why reading stopped."""

ADDRESS_AT, ACCESSES, SITE, SITE_END, MASK_NOW, WARP_NOW, INDEX, ADDRESS_WORDS, ACCESS_ROOM, OWN_STATE = range(10)
"""Columns of ``state``: positions of reading and writing; memory instructions of the visit without a record yet; mask
and warp of the visit; index of the thread block; number of address words; capacity for words of records.
"""

UNIT, SIZE, GUARDED, SPACE, REPEAT, ATOMIC, MASK, BASE, STRIDE, SITE_WORDS = range(10)
"""Columns of ``sites``: those of `memory_sites`, then the decoder state that the last record of each instruction left
(`warpreg.trace.addresses`).
"""

BANKS, BANK_SHIFT, FRAME_BYTES, FRAMES, WARPS, SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES, END = range(9)
BASIC_BLOCKS, PAIRS = 9, 10
"""Columns of ``rules``: banks of shared memory, a power of two, and log2 of their bytes; local memory of a warp in
bytes, and the number of thread blocks after which its addresses repeat; warps per thread block; bounds of the windows
of generic addresses; the thread block to stop at; basic blocks of the kernel; 1 if parts of a warp pass in pairs.
"""

LONGEST_RECORD = record.HEADER_WORDS + 512
"""Largest record in words: 32 lanes of up to 32 bytes in local memory access 256 lines; their addresses may follow."""


def keeps_lanes() -> bool:
    """Whether the addresses of lanes that are not affine follow the transactions; a constant of the compiled loop."""
    return False


def lanes_are_kept() -> bool:
    """In place of `keeps_lanes`."""
    return True


def append(
    words: NDArray[np.uint32],
    state: Words,
    sites: NDArray[np.int64],
    rules: Words,
    out: Words,
    lanes: Words,
    scratch: Words,
) -> int:
    """Append the records of the current visit; returns why it stopped."""
    status = DONE
    while state[SITE] < state[SITE_END] and status == DONE:
        if state[ADDRESS_AT] >= state[ADDRESS_WORDS]:
            status = NEED_ADDRESSES
        elif state[ACCESSES] + LONGEST_RECORD > state[ACCESS_ROOM]:
            status = BATCH_FULL
        elif _append_one(words, state, sites, rules, out, lanes, scratch):
            state[SITE] += 1
        else:
            status = CUT
    return status


def _append_one(
    words: NDArray[np.uint32],
    state: Words,
    sites: NDArray[np.int64],
    rules: Words,
    out: Words,
    lanes: Words,
    scratch: Words,
) -> bool:
    """Decode one record and append its access record; False if the words end inside it."""
    site = state[SITE]
    at, end = state[ADDRESS_AT], state[ADDRESS_WORDS]
    head: Any = np.int64(words[at])
    kind = head & 3
    payload = signed(head) >> PAYLOAD_SHIFT
    at += 1
    if at + (head >> 2 & 1) + (3 if kind == AFFINE else 0) > end:
        return False
    if head & MASK_FOLLOWS:
        sites[site, MASK] = words[at]
        at += 1
    mask = sites[site, MASK] if sites[site, GUARDED] == 1 else state[MASK_NOW]
    count = lanes_in(mask)
    stride = record.IRREGULAR
    if kind == AFFINE:
        sites[site, BASE] = np.int64(words[at]) | np.int64(words[at + 1]) << 32
        sites[site, STRIDE] = signed(words[at + 2])
        at += 3
    elif kind < AFFINE:
        sites[site, BASE] += payload
    elif kind == OFFSETS:
        sites[site, BASE] += payload >> OFFSETS_BITS
        taken = offset_words(payload & 3, count)
        if at + taken > end:
            return False
        read_offsets(words, at, count, mask, sites[site, BASE], payload & 3, sites[site, UNIT], lanes)
        at += taken
    else:
        taken = count if payload & 1 else 2 * count
        if at + taken > end:
            return False
        read_each(words, at, count, payload & 1, lanes)
        sites[site, BASE] = lanes[0]
        at += taken
    base = sites[site, BASE] if kind < OFFSETS else lanes[0]
    start = state[ACCESSES] + record.HEADER_WORDS
    word = -1
    if kind < OFFSETS:
        stride = sites[site, STRIDE]
        word = _regular(base, stride, mask, site, state, sites, rules, out, start)
        if word < 0:
            ramp(base, stride, mask, lanes)
    if word < 0:
        word = _general(mask, count, site, state, sites, rules, out, start, lanes, scratch)
    out[start - 3] = mask | word
    out[start - 2] = base
    out[start - 1] = stride
    state[ADDRESS_AT] = at
    state[ACCESSES] = start
    if word >> record.SPACE_SHIFT & 255 not in (SHARED, CONSTANT):
        state[ACCESSES] += word >> record.TRANSACTIONS_SHIFT
        if keeps_lanes() and stride == record.IRREGULAR:
            _append_lanes(lanes, count, state, out)
    return True


def _append_lanes(lanes: Words, count: int, state: Words, out: Words) -> None:
    """Append the addresses of the active lanes to the record; in local memory, their offsets."""
    for lane in range(count):
        out[state[ACCESSES] + lane] = lanes[lane]
    state[ACCESSES] += count


def _regular(
    base: int,
    stride: int,
    mask: int,
    site: int,
    state: Words,
    sites: NDArray[np.int64],
    rules: Words,
    out: Words,
    start: int,
) -> int:
    """Space and transactions of lanes ``stride`` bytes apart, as in the first word of a record, in closed form; -1 if
    the general rule is needed.
    """
    size = sites[site, SIZE]
    space = sites[site, SPACE]
    offset = base
    if space == GENERIC:
        space = _space(base + stride * _first_lane(mask), rules)
        offset = base - rules[LOCAL_WINDOW]
    count = 0
    if mask == 0:
        pass
    elif space == SHARED:
        if stride != 0 or sites[site, ATOMIC] == 0:
            count = sites[site, REPEAT] * coalescer.row_conflicts(
                stride, mask, size, rules[BANKS], rules[BANK_SHIFT], rules[PAIRS]
            )
    elif stride == 0:
        if space == CONSTANT:
            count = 1
        elif space == LOCAL:
            count = coalescer.local_rows(offset, mask, size, _frame(state, rules), out, start)
        else:
            count = coalescer.row_lines(base, size, out, start)
    elif stride == size and space in (GLOBAL, TEXTURE):
        if mask == FULL:
            count = coalescer.row_lines(base, 32 * size, out, start)
        elif size <= 32 and (size | base) & (size - 1) == 0:
            count = coalescer.masked_lines(base, mask, size, out, start)
    if count == 0 and mask != 0:
        return -1
    return space << record.SPACE_SHIFT | count << record.TRANSACTIONS_SHIFT


def _general(
    mask: int,
    active: int,
    site: int,
    state: Words,
    sites: NDArray[np.int64],
    rules: Words,
    out: Words,
    start: int,
    lanes: Words,
    scratch: Words,
) -> int:
    """`_regular` for any addresses, lane by lane."""
    size = sites[site, SIZE]
    space = sites[site, SPACE]
    if space == GENERIC:
        space = _space(lanes[0], rules)
        if space != GLOBAL:
            window = rules[LOCAL_WINDOW] if space == LOCAL else rules[SHARED_WINDOW]
            for lane in range(active):
                lanes[lane] -= window
    if space == SHARED:
        merged = 1 - sites[site, ATOMIC]
        count = sites[site, REPEAT] * coalescer.conflicts(
            lanes, mask, size, rules[BANKS], rules[BANK_SHIFT], merged, rules[PAIRS], scratch
        )
    elif space == CONSTANT:
        count = coalescer.different(lanes, active)
    elif space == LOCAL:
        count = coalescer.local_lines(lanes, mask, size, _frame(state, rules), out, start)
    else:
        count = coalescer.lines(lanes, active, size, out, start, scratch)
    return space << record.SPACE_SHIFT | count << record.TRANSACTIONS_SHIFT


def _frame(state: Words, rules: Words) -> int:
    """Address of the local memory of the current warp."""
    place: int = state[INDEX] % rules[FRAMES] * rules[WARPS] + state[WARP_NOW]
    return record.LOCAL_BASE + place * rules[FRAME_BYTES]


def _space(address: int, rules: Words) -> int:
    """The space that contains a generic address."""
    if rules[SHARED_WINDOW] <= address < rules[SHARED_WINDOW] + rules[WINDOW_BYTES]:
        return SHARED
    if rules[LOCAL_WINDOW] <= address < rules[LOCAL_WINDOW] + rules[WINDOW_BYTES]:
        return LOCAL
    return GLOBAL


def ramp(base: int, stride: int, mask: int, lanes: Words) -> None:
    """Addresses of active lanes ``stride`` bytes apart."""
    active = 0
    for lane in range(32):
        if mask >> lane & 1:
            lanes[active] = base + lane * stride
            active += 1


def offset_words(form: int, count: int) -> int:
    """The words of the offsets of ``count`` active lanes, in a form of `Offsets`."""
    if form == RAMP:
        return 1
    size = count if form == BYTES else 2 * count
    return 0 if count == 1 else (size + 3) // 4


def read_offsets(
    words: NDArray[np.uint32], at: int, count: int, mask: int, base: int, form: int, unit: int, lanes: Words
) -> None:
    """Addresses of active lanes from their offsets."""
    if form == RAMP:
        ramp(base, signed(words[at]), mask, lanes)
    elif count == 1:
        lanes[0] = base
    else:
        bits = 8 if form == BYTES else 16
        shift = 2 if form == BYTES else 1
        within = (1 << shift) - 1
        for lane in range(count):
            word: Any = np.int64(words[at + (lane >> shift)])
            lanes[lane] = base + unit * (word >> bits * (lane & within) & (1 << bits) - 1)


def read_each(words: NDArray[np.uint32], at: int, count: int, is_short: int, lanes: Words) -> None:
    """Addresses of active lanes that are recorded in full."""
    for lane in range(count):
        if is_short == 1:
            lanes[lane] = words[at + lane]
        else:
            lanes[lane] = np.int64(words[at + 2 * lane]) | np.int64(words[at + 2 * lane + 1]) << 32


def _first_lane(mask: int) -> int:
    return 0 if mask == 0 else lanes_in((mask & -mask) - 1)


def signed(unsigned: Any) -> Any:
    """A 32-bit word as a signed number."""
    word = np.int64(unsigned)
    return (word ^ 0x80000000) - 0x80000000
