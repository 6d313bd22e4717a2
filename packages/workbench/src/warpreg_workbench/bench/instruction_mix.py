"""What the instructions of a run do to memory: the counts from which `own_limit` computes a workload's limit.

They are read from the recorded path and addresses of all launches.  A *row* is an access whose active lanes are
contiguous or at one address; any other load or store is *scattered*.  A *line* is 64 bytes of global memory, counted
once for each launch that touches it; one that the launch also writes counts as written only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled
from warpreg import simt
from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.timing.core import access_record as record
from warpreg.timing.feed.coalescer import lanes_in
from warpreg.timing.feed.decode import offset_words, ramp, read_each, read_offsets, signed
from warpreg.timing.feed.memory_sites import access_kinds, memory_sites
from warpreg.trace.addresses import MASK_FOLLOWS, OFFSETS_BITS, PAYLOAD_SHIFT, Kind
from warpreg.trace.lanes import MAX_WARPS
from warpreg.trace.path import PathWord

Words = NDArray[np.uint32]
Longs = NDArray[np.int64]

LINE = 64
ROW = 128
LANES = 32
LOADS, STORES, ATOMICS = range(3)
READ, WRITTEN = 1, 2
UNIT, SIZE, GUARDED, SPACE, ATOMIC, ACTION, MASK, BASE, STRIDE, REGULAR = range(10)
"""Columns of ``sites``: those of `memory_sites`, the action, and the state that the last record of each left
(``REGULAR``: its lanes were evenly spaced)."""

VISIT_MASK, WARP, THREAD_BLOCK = int(PathWord.VISIT_MASK), int(PathWord.WARP), int(PathWord.THREAD_BLOCK)
AFFINE, OFFSETS = int(Kind.AFFINE), int(Kind.OFFSETS)
GLOBAL, GENERIC = record.GLOBAL, record.GENERIC


@dataclass(frozen=True)
class Mix:
    """``others`` are the warp-instructions without access, also those whose guard holds for no lane; ``rows`` counts
    128 bytes each; ``scattered`` int64[3, 33] the scattered loads and stores, and the atomics, by active lanes;
    ``read`` and ``written`` the lines; ``footprint`` is the bytes of all lines that the run touches."""

    others: int
    rows: int
    scattered: Longs
    read: int
    written: int
    footprint: int

    @property
    def instructions(self) -> int:
        """Warp-instructions of 32-bit accesses, and those without access."""
        return self.others + self.rows + int(self.scattered.sum())


def instruction_mix(launches: Sequence[simt.Launch], memory_bytes: int) -> Mix:
    """The mix of launches whose path and addresses are recorded; ``memory_bytes`` is the size of global memory."""
    scattered, rows = np.zeros((3, LANES + 1), np.int64), np.zeros(2, np.int64)
    ever = np.zeros(memory_bytes // LINE + LANES, np.uint8)
    read = written = 0
    for launch in launches:
        assert launch.trace is not None
        touched = np.zeros_like(ever)
        _count(launch, scattered, rows, touched)
        written += int(np.count_nonzero(touched & WRITTEN))
        read += int(np.count_nonzero(touched == READ))
        ever |= touched
    total = sum(launch.warp_instructions for launch in launches)
    accesses = int(rows[1] + scattered.sum())
    return Mix(total - accesses, int(rows[0]), scattered, read, written, LINE * int(np.count_nonzero(ever)))


def _count(launch: simt.Launch, scattered: Longs, rows: Longs, touched: NDArray[np.uint8]) -> None:
    assert launch.trace is not None
    found, kinds = memory_sites(launch.kernel), access_kinds(launch.kernel)
    sites = np.zeros((max(1, len(found.pc)), 10), np.int64)
    columns = (found.unit, found.size, found.guarded, found.space, found.atomic)
    for place, column in enumerate(columns):
        sites[: len(found.pc), place] = column
    sites[: len(found.pc), ACTION] = np.where(kinds[found.pc] == record.STORE, STORES, LOADS)
    sites[sites[:, ATOMIC] == 1, ACTION] = ATOMICS
    path, addresses = _joined(launch.trace.path_chunks()), _joined(launch.trace.address_chunks())
    arguments = (
        path,
        addresses,
        found.first,
        sites,
        np.zeros(MAX_WARPS, np.int64),
        np.zeros(LANES, np.int64),
        scattered,
        rows,
        touched,
    )
    used = compiled(count_accesses, arguments)(*arguments)
    assert used == addresses.size


def _joined(chunks: Iterable[Words]) -> Words:
    return np.concatenate([np.zeros(0, np.uint32), *chunks])


def count_accesses(
    path: Words,
    words: Words,
    first: NDArray[np.int32],
    sites: Longs,
    masks: Longs,
    lanes: Longs,
    scattered: Longs,
    rows: Longs,
    touched: NDArray[np.uint8],
) -> int:
    """Count one launch; ``rows`` are the units of 128 bytes and the accesses, ``lanes`` the addresses of one access.
    Returns the words of addresses read."""
    at, place = 0, 0
    warp: Any = 0
    while place < path.size:
        kind, payload = path[place] & 3, np.int64(path[place] >> 2)
        place += 1
        if kind == THREAD_BLOCK:
            place += 1
            masks[:] = 0
        elif kind == WARP:
            warp = payload
        else:
            if kind == VISIT_MASK:
                masks[warp] = path[place]
                place += 1
            for site in range(first[payload], first[payload + 1]):
                mask = access_mask(words, at, sites, site, masks[warp])
                at = decode(words, at, sites, site, mask, lanes)
                if mask != 0:
                    tally(sites, site, lanes_in(mask), lanes, scattered, rows, touched)
    return at


def access_mask(words: Words, at: int, sites: Longs, site: int, mask: int) -> int:
    """The active lanes of the record at ``at``; ``mask`` are those of its block."""
    if words[at] & MASK_FOLLOWS:
        sites[site, MASK] = words[at + 1]
    return sites[site, MASK] if sites[site, GUARDED] == 1 else mask


def decode(words: Words, at: int, sites: Longs, site: int, mask: int, lanes: Longs) -> int:
    """The addresses of the active lanes of a record (`warpreg.trace.addresses`); returns where the next one begins."""
    head: Any = np.int64(words[at])
    kind, payload, count = head & 3, signed(head) >> PAYLOAD_SHIFT, lanes_in(mask)
    at += 2 if head & MASK_FOLLOWS else 1
    if kind == AFFINE:
        sites[site, BASE] = np.int64(words[at]) | np.int64(words[at + 1]) << 32
        sites[site, STRIDE] = signed(words[at + 2])
        at += 3
    elif kind < AFFINE:
        sites[site, BASE] += payload
    elif kind == OFFSETS:
        sites[site, BASE] += payload >> OFFSETS_BITS
        read_offsets(words, at, count, mask, sites[site, BASE], payload & 3, sites[site, UNIT], lanes)
        at += offset_words(payload & 3, count)
    else:
        read_each(words, at, count, payload & 1, lanes)
        at += count if payload & 1 else 2 * count
        sites[site, BASE] = lanes[0]
    sites[site, REGULAR] = kind <= AFFINE
    if kind <= AFFINE:
        ramp(sites[site, BASE], sites[site, STRIDE], mask, lanes)
    return at


def tally(
    sites: Longs, site: int, count: int, lanes: Longs, scattered: Longs, rows: Longs, touched: NDArray[np.uint8]
) -> None:
    """Count an access of ``count`` lanes."""
    action, size, space = sites[site, ACTION], sites[site, SIZE], sites[site, SPACE]
    is_even = sites[site, REGULAR] == 1 and (sites[site, STRIDE] == 0 or sites[site, STRIDE] == size)
    if action != ATOMICS and (count == 1 or is_even):
        rows[0] += max(1, LANES * size // ROW)
        rows[1] += 1
    else:
        scattered[action, count] += 1
    if space == GLOBAL or (space == GENERIC and lanes[0] >= GLOBAL_BASE):
        for lane in range(count):
            offset = lanes[lane] - GLOBAL_BASE
            for line in range(offset // LINE, (offset + size - 1) // LINE + 1):
                touched[line] |= np.uint8(READ if action == LOADS else WRITTEN)
