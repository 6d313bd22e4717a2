"""What 32 lane addresses ask of memory: lines and sectors of global memory, conflict cycles of shared memory.

Plain functions in the numba subset of Python that allocate nothing: the feed compiles them into its loop.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warpreg.timing.access_record import LINE_BYTES

Words: TypeAlias = NDArray[np.int64]

SCRATCH_WORDS = 256
WORD_BYTES = 4
ROW_BYTES = 128
"""One 32-bit word of each of 32 lanes: how local memory is laid out."""


def lines(lanes: Words, mask: int, size: int, sorted_lanes: int, found: Words, start: int) -> int:
    """The lines that the lanes of ``mask`` touch with ``size`` bytes each: how many words were written.

    ``found[start:]`` takes words of line address | sectors, in the order of the first lane that touches each.
    ``sorted_lanes`` is 1 where addresses only rise or only fall with the lane, so that equal lines are neighbours.
    """
    end = start
    for lane in range(32):
        if mask >> lane & 1:
            sector = lanes[lane] >> 5
            last = (lanes[lane] + size - 1) >> 5
            while sector <= last:
                end = _add(sector, sorted_lanes, found, start, end)
                sector += 1
    return end - start


def _add(sector: int, sorted_lanes: int, found: Words, start: int, end: int) -> int:
    """Put a sector into the lines found so far; returns their end."""
    line = sector >> 2 << 7
    bit = 1 << (sector & 3)
    at = end - 1
    stop = max(start, end - 2) if sorted_lanes == 1 else start
    while at >= stop:
        if found[at] & -LINE_BYTES == line:
            found[at] |= bit
            return end
        at -= 1
    found[end] = line | bit
    return end + 1


def row_lines(first: int, bytes_: int, found: Words, start: int) -> int:
    """The lines of a run of bytes; see `lines`."""
    sector = first >> 5
    last = (first + bytes_ - 1) >> 5
    end = start
    while sector <= last:
        through = min(last, sector | 3)
        found[end] = sector >> 2 << 7 | ((2 << (through & 3)) - (1 << (sector & 3)))
        end += 1
        sector = through + 1
    return end - start


def local_lines(lanes: Words, mask: int, size: int, frame: int, found: Words, start: int) -> int:
    """The lines of local memory: word ``w`` of lane ``l`` of a warp lies at ``frame + 128 w + 4 l``.  See `lines`."""
    end = start
    words = max(1, size // WORD_BYTES)
    for lane in range(32):
        if mask >> lane & 1:
            row = lanes[lane] // WORD_BYTES
            for word in range(row, row + words):
                end = _add((frame + word * ROW_BYTES + lane * WORD_BYTES) >> 5, 0, found, start, end)
    return end - start


def local_rows(offset: int, mask: int, size: int, frame: int, found: Words, start: int) -> int:
    """`local_lines` where all active lanes have the same offset."""
    sectors = 0
    for sector in range(4):
        if mask >> (8 * sector) & 255:
            sectors |= 1 << sector
    row = offset // WORD_BYTES
    words = max(1, size // WORD_BYTES)
    for word in range(words):
        found[start + word] = frame + (row + word) * ROW_BYTES | sectors
    return words


def conflicts(lanes: Words, mask: int, size: int, banks: int, bank_shift: int, merged: int, seen: Words) -> int:
    """Cycles that shared memory takes: for each part of the warp, the most different words in one of its banks.

    There are ``banks`` (a power of two, at most 64) of ``1 << bank_shift`` bytes.  Lanes that access more go in halves
    or quarters of the warp.  Lanes with the same word share it if ``merged`` is 1 (loads and stores); atomics take
    their turns (0).  ``seen`` is scratch of SCRATCH_WORDS.
    """
    parts = max(1, size >> bank_shift)
    width = 32 if parts == 1 else max(1, 32 // parts)
    total = 0
    for part in range(0, 32, width):
        if mask >> part & ((1 << width) - 1):
            total += _part_conflicts(lanes, mask, part, width, size, banks, bank_shift, merged, seen)
    return total


def _part_conflicts(
    lanes: Words, mask: int, part: int, width: int, size: int, banks: int, bank_shift: int, merged: int, seen: Words
) -> int:
    """Most different words in a bank.  ``seen`` holds for each bank how many, and the head of a chain of them; then
    pairs of word and next."""
    for bank in range(2 * banks):
        seen[bank] = 0
    most = 1
    free = 2 * banks
    for lane in range(part, part + width):
        if mask >> lane & 1 == 0:
            continue
        word = lanes[lane] >> bank_shift
        last = (lanes[lane] + size - 1) >> bank_shift
        while word <= last:
            bank = word & (banks - 1)
            at = seen[banks + bank] if merged == 1 else 0
            while at != 0 and seen[at] != word:
                at = seen[at + 1]
            if at == 0:
                seen[free] = word
                seen[free + 1] = seen[banks + bank]
                seen[banks + bank] = free
                free += 2
                seen[bank] += 1
                most = max(most, seen[bank])
            word += 1
    return most


def row_conflicts(stride: int, size: int, banks: int, bank_shift: int) -> int:
    """`conflicts` of loads and stores by all 32 lanes, ``stride`` bytes apart; 0 where the general rule must decide."""
    if stride == 0:
        return 1 if size <= 1 << bank_shift else 0
    parts = size >> bank_shift
    if stride == size and size >= 1 << bank_shift:
        return parts * max(1, 32 // banks)
    if size == 1 << bank_shift and stride & (size - 1) == 0:
        step = stride >> bank_shift
        degree = 1
        while degree < banks and step & (2 * degree - 1) == 0:
            degree *= 2
        return max(1, min(32, 32 * degree // banks))
    return 0


def different(lanes: Words, mask: int) -> int:
    """How many different 32-bit words the lanes of ``mask`` name: the cycles of a constant cache."""
    count = 0
    for lane in range(32):
        if mask >> lane & 1:
            new = 1
            for before in range(lane):
                if mask >> before & 1 and lanes[before] >> 2 == lanes[lane] >> 2:
                    new = 0
            count += new
    return count
