"""The arrays of a memory system, from what a machine file says of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.memory import LINE_BYTES, Dram, FirstLevel, MemorySystem, Network, SecondLevel
from warpreg.timing.core.buffer_pool import room
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import TICKS, Array, Halves, Memory

SECTOR_BYTES = 32
SMALLEST_CARVEOUT = 8192
NODES_PER_TRANSACTION = 4
"""A transaction, what the first level asks for it, what the second level asks for that, and a line written back."""


def for_machine(machine: Machine, sms: int | None = None, shared_bytes: int = 0) -> Memory:
    """The memory system of a machine at rest, for all its SMs or for some, each with so much shared memory in use."""
    system = with_shared_memory(machine.memory, shared_bytes)
    latency = machine.latency
    return build(system, sms or machine.chip.sms, machine.chip.clock_mhz, latency.dram, latency.texture)


def with_shared_memory(system: MemorySystem, shared_bytes: int) -> MemorySystem:
    """The system whose first level has what ``shared_bytes``, rounded up to a power of two from 8 KB, leave of a
    unified memory."""
    cache = system.l1
    if cache is None or cache.unified_bytes is None:
        return system
    taken = max(SMALLEST_CARVEOUT, 1 << (shared_bytes - 1).bit_length()) if shared_bytes else 0
    sets = cache.bytes // LINE_BYTES // cache.ways
    ways = max(cache.bytes, cache.unified_bytes - taken) // LINE_BYTES // sets
    return replace(system, l1=replace(cache, bytes=ways * sets * LINE_BYTES, ways=ways))


def build(system: MemorySystem, sms: int, clock_mhz: float, latency: int, texture_latency: int) -> Memory:
    """A memory system at rest, for ``sms`` SMs at ``clock_mhz``.

    ``latency`` and ``texture_latency`` are those of the fixed model, in cycles.
    """
    p = np.zeros(at.PARAMETERS, np.int64)
    model = system.memory
    p[at.MODEL] = at.MODELS.index(model.model)
    p[at.SMS] = sms
    p[at.SEGMENT] = 15 if model.segment_bytes == LINE_BYTES else 0
    p[at.OUTSTANDING] = model.outstanding
    p[at.LATENCY], p[at.TEXTURE_LATENCY] = latency, texture_latency
    if model.bytes_per_cycle is not None:
        p[at.SECTOR_TICKS] = _ticks(SECTOR_BYTES / model.bytes_per_cycle)
    is_fixed = model.model == "fixed"
    _first_level(p, None if is_fixed else system.l1)
    if not is_fixed and system.l2 is not None and system.network is not None and system.dram is not None:
        _second_level(p, system.l2)
        _network(p, system.network)
        _dram(p, system.dram, clock_mhz)
    return _arrays(p)


def _first_level(p: Array, cache: FirstLevel | None) -> None:
    p[at.BY_SECTOR] = 1 if p[at.SEGMENT] == 0 else 0
    p[at.BUCKETS1], p[at.BITS1] = 1, -1
    p[at.L1_LATENCY] = 1
    if cache is None:
        return
    p[at.HAS_L1] = 1
    p[at.SETS1], p[at.WAYS1] = cache.bytes // LINE_BYTES // cache.ways, cache.ways
    p[at.BITS1], p[at.BUCKETS1] = _bits(int(p[at.SETS1])), _buckets(cache.bytes // LINE_BYTES)
    p[at.L1_LATENCY], p[at.MSHRS1] = cache.latency, cache.miss_lines
    p[at.L1_SECTOR_TICKS] = _ticks(1 / cache.sectors_per_cycle)
    p[at.WRITE1], p[at.SKIP_GLOBAL] = at.WRITES.index(cache.write), cache.skip_global


def _second_level(p: Array, cache: SecondLevel) -> None:
    p[at.SLICES], p[at.SLICE_BITS] = cache.slices, _bits(cache.slices)
    p[at.SETS2], p[at.WAYS2] = cache.bytes // LINE_BYTES // cache.ways, cache.ways
    p[at.BITS2], p[at.BUCKETS2] = _bits(int(p[at.SETS2])), _buckets(cache.bytes // LINE_BYTES)
    p[at.L2_LATENCY], p[at.L2_SECTOR_TICKS] = cache.latency, _ticks(1 / cache.sectors_per_cycle)
    p[at.MSHRS2], p[at.QUEUE2] = cache.miss_lines, cache.queue
    p[at.MERGED2] = at.NEVER if cache.merged is None or p[at.MODEL] == at.CACHED else cache.merged
    p[at.INTERLEAVE_SHIFT], p[at.SPREAD] = _bits(cache.interleave_bytes), at.SPREADS.index(cache.spread)


def _network(p: Array, network: Network) -> None:
    p[at.NETWORK_LATENCY], p[at.FLIT_BYTES] = network.latency, network.flit_bytes
    p[at.QUEUE_NETWORK], p[at.VIRTUAL_CHANNELS] = network.queue, network.virtual_channels
    p[at.IS_MESH] = network.kind == "mesh"


def _dram(p: Array, dram: Dram, clock_mhz: float) -> None:
    scale = clock_mhz / dram.clock_mhz
    p[at.CHANNELS], p[at.DRAM_LATENCY], p[at.BANKS] = dram.channels, dram.latency, dram.banks
    if p[at.MODEL] == at.CACHED:
        p[at.DRAM_LATENCY] += round((dram.rcd + dram.cl) * scale)
    p[at.DRAM_SECTOR_TICKS] = _ticks(SECTOR_BYTES / dram.bytes_per_clock * scale)
    p[at.ROW_SHIFT], p[at.QUEUE_DRAM] = _bits(dram.row_bytes), dram.queue
    for place, clocks in (
        (at.T_RCD, dram.rcd), (at.T_RP, dram.rp), (at.T_RAS, dram.ras), (at.T_RRD, dram.rrd),
        (at.T_CL, dram.cl), (at.T_WL, dram.wl), (at.T_WR, dram.wr), (at.T_WTR, dram.cdlr),
    ):  # fmt: skip
        p[place] = _ticks(clocks * scale)


def _arrays(p: Array) -> Memory:
    sms, slices, channels = int(p[at.SMS]), int(p[at.SLICES]), int(p[at.CHANNELS])
    outstanding = sms * int(p[at.OUTSTANDING])
    nodes = _unset(NODES_PER_TRANSACTION * outstanding if p[at.MODEL] != at.FIXED else 1, at.NODE_FIELDS)
    lines1, sets1 = _cache(sms if p[at.HAS_L1] else 0, int(p[at.SETS1]), int(p[at.WAYS1]))
    lines2, sets2 = _cache(slices, int(p[at.SETS2]), int(p[at.WAYS2]))
    queues = _zeros(_place_queues(p), at.QUEUE_FIELDS)
    memory = Memory(
        parameters=p,
        scalars=np.zeros(at.SCALARS, np.int64),
        sms=_zeros(sms, at.SM_FIELDS),
        slices=_zeros(slices, at.SLICE_FIELDS),
        channels=_zeros(channels, at.CHANNEL_FIELDS),
        banks=_zeros(channels * int(p[at.BANKS]), at.BANK_FIELDS),
        lines1=lines1,
        sets1=sets1,
        buckets1=np.zeros(max(1, sms * int(p[at.BUCKETS1])), np.int32),
        lines2=lines2,
        sets2=sets2,
        buckets2=np.zeros(max(1, slices * int(p[at.BUCKETS2])), np.int32),
        nodes=nodes,
        events=_unset(len(nodes), 2),
        days=_zeros(at.DAYS, at.DAY_FIELDS),
        weeks=np.zeros(at.DAYS // at.WEEK, np.int64),
        returns=_unset(outstanding, 2),
        queues=queues,
        routers=_zeros(2 * int(p[at.ROUTERS]), at.ROUTER_FIELDS),
        counts=_zeros(sms, at.COUNTS),
    )
    memory.sms[:, [at.BLOCKED, at.FIRST_ANSWER, at.LAST_ANSWER]] = at.NONE
    memory.banks[:, at.OPEN_ROW] = at.NONE
    memory.channels[:, at.STEP_AT] = at.NEVER
    memory.scalars[at.DRAM_AT] = at.NEVER
    memory.scalars[at.FREE_NODE] = at.NONE
    return memory


def _place_queues(p: Array) -> int:
    """Where the queues of each kind begin; how many there are."""
    channels, slices = int(p[at.VIRTUAL_CHANNELS]), int(p[at.SLICES])
    p[at.SLICE_QUEUES] = p[at.SMS] * channels
    p[at.REPLY_QUEUES] = p[at.SLICE_QUEUES] + slices
    p[at.BANK_QUEUES] = p[at.REPLY_QUEUES] + slices * channels
    p[at.MESH_QUEUES] = p[at.BANK_QUEUES] + p[at.CHANNELS] * p[at.BANKS]
    if p[at.IS_MESH]:
        nodes = int(p[at.SMS]) + slices
        p[at.MESH_WIDTH] = width = math.ceil(math.sqrt(nodes))
        p[at.ROUTERS] = width * -(-nodes // width)
    return int(p[at.MESH_QUEUES] + 2 * p[at.ROUTERS] * 5 * channels)


def _zeros(rows: int, columns: int) -> Array:
    """Rows of zeros, the first of which begins at a cache line of the host."""
    return _rows(rows, columns, _cleared)


def _cleared(words: int) -> Array:
    return np.zeros(words, np.int64)


def _unset(rows: int, columns: int) -> Array:
    """The same of rows that are written before they are read."""
    return _rows(rows, columns, room)


def _rows(rows: int, columns: int, make: Callable[[int], Array]) -> Array:
    size = max(1, rows) * columns
    words = make(size + HOST_LINE)
    begin = -(words.ctypes.data // words.itemsize) % HOST_LINE
    return words[begin:][:size].reshape(-1, columns)


def _cache(caches: int, sets: int, ways: int) -> tuple[Halves, Array]:
    """Empty lines, and their sets."""
    lines = _zeros(caches * sets * ways, at.LINE_FIELDS // 2)
    return lines.view(np.int32), _zeros(caches * sets, at.SET_FIELDS)


def _ticks(cycles: float) -> int:
    return round(cycles * TICKS)


def _bits(number: int) -> int:
    """log2, or -1 for what is no power of two; 0 bits fold nothing, so a single set counts as none either."""
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else -1


def _buckets(lines: int) -> int:
    return 1 << (lines - 1).bit_length()


def counters(memory: Memory) -> dict[str, Any]:
    """What was counted, summed over the SMs."""
    return dict(zip(at.COUNTERS, memory.counts.sum(axis=0).tolist(), strict=True))
