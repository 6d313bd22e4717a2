"""Memory transactions of a warp: lines and sectors of global memory, conflict cycles of shared memory.

Plain functions in the numba subset of Python that allocate nothing; the feed compiles them into its loop.  ``lanes``
int64[32] holds the addresses of the active lanes, without gaps; ``mask`` names these lanes.  Closed forms stand beside
the general rules that they replace.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warpreg.timing.core.access_record import LINE_BYTES

Words: TypeAlias = NDArray[np.int64]

WORD_BYTES = 4
ROW_BYTES = 128
"""Bytes of one 32-bit word of each of 32 lanes: a row of local memory."""

MAX_BANKS = 64
BANK, COUNT, WORD, NEXT = 0, MAX_BANKS, 2 * MAX_BANKS, 3 * MAX_BANKS
"""Offsets in the scratch array of `conflicts`: by bank, the last word found and the number of words; then words and
links.
"""
SCRATCH_WORDS = 4 * MAX_BANKS


def lanes_in(mask: int) -> int:
    """Number of lanes in a mask of 32."""
    pairs = mask - (mask >> 1 & 0x55555555)
    fours = (pairs & 0x33333333) + (pairs >> 2 & 0x33333333)
    return ((fours + (fours >> 4) & 0x0F0F0F0F) * 0x01010101 & 0xFFFFFFFF) >> 24


def lines(lanes: Words, count: int, size: int, out: Words, start: int, scratch: Words) -> int:
    """Write the lines that ``count`` lanes access with ``size`` bytes each; returns the number of words written.

    ``out[start:]`` receives words of line address | sectors, in the order of the first lane that accesses each line.
    """
    end = start
    line = -1
    at = start
    met = 0
    for lane in range(count):
        sector = lanes[lane] >> 5
        last = (lanes[lane] + size - 1) >> 5
        while sector <= last:
            if sector >> 2 << 7 != line:
                line = sector >> 2 << 7
                bucket = (line >> 7 ^ line >> 13) & 63
                at = scratch[bucket] if met >> bucket & 1 else end
                if at < end and out[at] & -LINE_BYTES != line:
                    at = _search(line, out, start, end)
                met |= 1 << bucket
                scratch[bucket] = at
                if at == end:
                    out[end] = line
                    end += 1
            out[at] |= 1 << (sector & 3)
            sector += 1
    return end - start


def _search(line: int, found: Words, start: int, end: int) -> int:
    at = start
    while at < end and found[at] & -LINE_BYTES != line:
        at += 1
    return at


def row_lines(first: int, bytes_: int, out: Words, start: int) -> int:
    """The lines of a sequence of ``bytes_`` bytes; see `lines`."""
    sector = first >> 5
    last = (first + bytes_ - 1) >> 5
    end = start
    while sector <= last:
        through = min(last, sector | 3)
        out[end] = sector >> 2 << 7 | ((2 << (through & 3)) - (1 << (sector & 3)))
        end += 1
        sector = through + 1
    return end - start


def masked_lines(first: int, mask: int, size: int, out: Words, start: int) -> int:
    """`lines` of neighbouring lanes of ``size`` bytes, a power of two up to 32; lane 0 is at ``first``, a multiple of
    it.
    """
    lanes = 32 // size
    sector = first >> 5
    left = mask << (first // size & (lanes - 1))
    end = start
    line = -1
    while left != 0:
        if left & ((1 << lanes) - 1) != 0:
            if sector >> 2 << 7 != line:
                line = sector >> 2 << 7
                out[end] = line
                end += 1
            out[end - 1] |= 1 << (sector & 3)
        left >>= lanes
        sector += 1
    return end - start


def local_lines(lanes: Words, mask: int, size: int, frame: int, out: Words, start: int) -> int:
    """The lines of local memory: word ``w`` of lane ``l`` of a warp is at ``frame + 128 w + 4 l``.  See `lines`."""
    end = start
    words = max(1, size // WORD_BYTES)
    active = 0
    for lane in range(32):
        if mask >> lane & 1:
            row = lanes[active] // WORD_BYTES
            active += 1
            for word in range(row, row + words):
                place = frame + word * ROW_BYTES + lane * WORD_BYTES
                at = _search(place & -LINE_BYTES, out, start, end)
                if at == end:
                    out[end] = place & -LINE_BYTES
                    end += 1
                out[at] |= 1 << (place >> 5 & 3)
    return end - start


def local_rows(offset: int, mask: int, size: int, frame: int, out: Words, start: int) -> int:
    """`local_lines` if all active lanes have the same offset."""
    sectors = 0
    for sector in range(4):
        if mask >> (8 * sector) & 255:
            sectors |= 1 << sector
    row = offset // WORD_BYTES
    words = max(1, size // WORD_BYTES)
    for word in range(words):
        out[start + word] = frame + (row + word) * ROW_BYTES | sectors
    return words


def conflicts(
    lanes: Words, mask: int, size: int, banks: int, bank_shift: int, merged: int, pairs: int, scratch: Words
) -> int:
    """Cycles of a shared-memory access: the most different words in one bank, summed over the parts of the warp.

    There are ``banks`` (a power of two, at most 64) of ``1 << bank_shift`` bytes.  Wider accesses are processed in
    halves or quarters of the warp; with ``pairs``, two neighbouring parts that do not conflict are processed together.
    Lanes that access the same word share it if ``merged`` is 1 (loads and stores); with 0 (atomics) they take turns.
    """
    parts = max(1, size >> bank_shift)
    width = 32 if parts == 1 else max(1, 32 // parts)
    if merged == 0 and parts == 1:
        turns = _turns(lanes, lanes_in(mask), size, banks, bank_shift, scratch)
        if turns >= 0:
            return turns
    total = 0
    lane = 0
    begins, before = 0, 0
    for part in range(0, 32, width):
        end = lane + lanes_in(mask >> part & ((1 << width) - 1))
        cycles = _part_conflicts(lanes, lane, end, size, banks, bank_shift, merged, scratch)
        is_second = part & width != 0
        if pairs != 0 and is_second and before == 1 and cycles == 1:
            cycles = _part_conflicts(lanes, begins, end, size, banks, bank_shift, merged, scratch) - 1
        total += cycles
        begins, before = lane, cycles
        lane = end
    return total


def _turns(lanes: Words, active: int, size: int, banks: int, bank_shift: int, scratch: Words) -> int:
    """`conflicts` if no lanes share a word: most lanes in a bank; -1 if one lane accesses two words."""
    for bank in range(banks):
        scratch[bank] = 0
    most = 0
    for lane in range(active):
        word = lanes[lane] >> bank_shift
        if (lanes[lane] + size - 1) >> bank_shift != word:
            return -1
        found = scratch[word & (banks - 1)] + 1
        scratch[word & (banks - 1)] = found
        most = max(most, found)
    return most


def _part_conflicts(
    lanes: Words, lane: int, end: int, size: int, banks: int, bank_shift: int, merged: int, scratch: Words
) -> int:
    """Most different words in a bank.  The words of a bank are chained; the first one found ends the chain."""
    met = 0
    words = 0
    most = 0
    while lane < end:
        word = lanes[lane] >> bank_shift
        last = (lanes[lane] + size - 1) >> bank_shift
        lane += 1
        while word <= last:
            bank = word & (banks - 1)
            at = NEXT
            if met >> bank & 1 == 0:
                met |= 1 << bank
                scratch[COUNT + bank] = 0
            else:
                at = scratch[BANK + bank]
            before = at
            while merged == 1 and at != NEXT and scratch[at] != word:
                at = scratch[at + MAX_BANKS]
            if merged == 0 or at == NEXT:
                scratch[WORD + words] = word
                scratch[NEXT + words] = before
                scratch[BANK + bank] = WORD + words
                words += 1
                scratch[COUNT + bank] += 1
                most = max(most, scratch[COUNT + bank])
            word += 1
    return most


def row_conflicts(stride: int, mask: int, size: int, banks: int, bank_shift: int, pairs: int) -> int:
    """`conflicts` of loads and stores of lanes ``stride`` bytes apart (of atomics too, unless the stride is 0); 0 if
    the general rule is needed.
    """
    if stride == 0:
        return 1 if size <= 1 << bank_shift else 0
    in_parts = banks >= 32 if pairs == 0 else banks == 32 and mask == 0xFFFFFFFF
    if stride == size and size > 1 << bank_shift and in_parts:
        return _parts(mask, 32 // (size >> bank_shift))
    step = stride >> bank_shift
    if size != 1 << bank_shift or step << bank_shift != stride:
        return 0
    degree = 1
    while degree < banks and step & (2 * degree - 1) == 0:
        degree *= 2
    cycles = max(1, min(32, 32 * degree // banks))
    return cycles if cycles == 1 or mask == 0xFFFFFFFF else 0


def _parts(mask: int, width: int) -> int:
    """Parts of the warp, each of ``width`` lanes, that have an active lane."""
    count = 0
    while mask != 0:
        if mask & ((1 << width) - 1):
            count += 1
        mask >>= width
    return count


def different(lanes: Words, count: int) -> int:
    """Number of different 32-bit words that the lanes access: the cycles of a constant cache."""
    distinct = 0
    for lane in range(count):
        new = 1
        for before in range(lane):
            if lanes[before] >> 2 == lanes[lane] >> 2:
                new = 0
        distinct += new
    return distinct
