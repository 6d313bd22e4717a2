"""Build a memory system from a machine file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.memory import (
    LINE_BYTES,
    MODELS,
    PACKETS,
    SPREADS,
    WRITES,
    Dram,
    FirstLevel,
    MemorySystem,
    Network,
    SecondLevel,
)
from warpreg.timing.core.typed import NEVER, SET_SIZE, Words, array_of
from warpreg.timing.memory.arrays import idle
from warpreg.timing.memory.layout import CACHED, PLACE, TICKS, Memory
from warpreg.timing.memory.memory_columns import Parameters, counts, parameters

SECTOR_BYTES = 32
HEADER_BYTES = 8
"""Of a packet on the network."""
SMALLEST_CARVEOUT = 8192


def for_machine(machine: Machine, sms: int | None = None, shared_bytes: int = 0, threads: int = 1) -> Memory:
    """An idle memory system of a machine, for ``sms`` SMs (default: all), each with ``shared_bytes`` of shared memory
    in use.  So many ``threads`` may step the SMs together (`members`).
    """
    system = with_shared_memory(machine.memory, shared_bytes)
    latency = machine.latency
    return build(system, sms or machine.chip.sms, machine.chip.clock_mhz, latency.dram, latency.texture, threads)


def with_shared_memory(system: MemorySystem, shared_bytes: int) -> MemorySystem:
    """The system whose first level is what a unified memory leaves beside ``shared_bytes``, rounded up to a power of
    two of at least 8 KB.
    """
    cache = system.l1
    if cache is None or cache.unified_bytes is None:
        return system
    taken = max(SMALLEST_CARVEOUT, 1 << (shared_bytes - 1).bit_length()) if shared_bytes else 0
    sets = cache.bytes // LINE_BYTES // cache.ways
    ways = max(cache.bytes, cache.unified_bytes - taken) // LINE_BYTES // sets
    return replace(system, l1=replace(cache, bytes=ways * sets * LINE_BYTES, ways=ways))


def build(
    system: MemorySystem, sms: int, clock_mhz: float, latency: int, texture_latency: int, threads: int = 1
) -> Memory:
    """An idle memory system for ``sms`` SMs at ``clock_mhz``.

    ``latency`` and ``texture_latency`` are those of the fixed model, in cycles.
    """
    p = cast("Words[Parameters]", np.zeros(parameters.COUNT, np.int64))
    model = system.memory
    p[parameters.MODEL] = MODELS.index(model.model)
    p[parameters.SMS] = sms
    p[parameters.SEGMENT] = 15 if model.segment_bytes == LINE_BYTES else 0
    p[parameters.OUTSTANDING] = model.outstanding
    p[parameters.LATENCY], p[parameters.TEXTURE_LATENCY] = latency, texture_latency
    if model.bytes_per_cycle is not None:
        p[parameters.SECTOR_TICKS] = _ticks(SECTOR_BYTES / model.bytes_per_cycle)
    is_fixed = model.model == "fixed"
    _first_level(p, None if is_fixed else system.l1)
    if not is_fixed and system.l2 is not None and system.network is not None and system.dram is not None:
        _second_level(p, system.l2)
        _network(p, system.network)
        _dram(p, system.dram, clock_mhz)
    _place_queues(p)
    memory = idle(p, threads)
    if p[parameters.IS_MESH] and system.network is not None:
        _place_nodes(memory, system.network.slice_routers)
    return memory


def _first_level(p: Words[Parameters], cache: FirstLevel | None) -> None:
    p[parameters.BY_SECTOR] = 1 if p[parameters.SEGMENT] == 0 else 0
    p[parameters.BUCKETS1], p[parameters.BITS1] = 1, -1
    p[parameters.L1_LATENCY] = p[parameters.BANKS1] = 1
    if cache is None:
        return
    p[parameters.HAS_L1] = 1
    p[parameters.SETS1], p[parameters.WAYS1] = cache.bytes // LINE_BYTES // cache.ways, cache.ways
    p[parameters.BITS1], p[parameters.BUCKETS1] = _bits(int(p[parameters.SETS1])), _buckets(cache.bytes // LINE_BYTES)
    p[parameters.L1_LATENCY], p[parameters.MSHRS1] = cache.latency, cache.miss_lines
    p[parameters.L1_SECTOR_TICKS] = _ticks(1 / cache.sectors_per_cycle)
    p[parameters.BANKS1] = cache.banks or 1
    if cache.miss_sectors is not None:
        p[parameters.MSHRS1], p[parameters.MISS_SECTORS] = cache.miss_sectors, 1
    p[parameters.MERGED1] = NEVER if cache.merged is None else cache.merged
    p[parameters.CACHES_READ_ONLY] = cache.caches_read_only or False
    p[parameters.WRITE1], p[parameters.SKIP_GLOBAL] = WRITES.index(cache.write), cache.skip_global


def _second_level(p: Words[Parameters], cache: SecondLevel) -> None:
    p[parameters.SLICES], p[parameters.SLICE_BITS] = cache.slices, _bits(cache.slices)
    p[parameters.SETS2], p[parameters.WAYS2] = cache.bytes // LINE_BYTES // cache.ways, cache.ways
    p[parameters.BITS2], p[parameters.BUCKETS2] = _bits(int(p[parameters.SETS2])), _buckets(cache.bytes // LINE_BYTES)
    p[parameters.L2_LATENCY], p[parameters.L2_SECTOR_TICKS] = cache.latency, _ticks(1 / cache.sectors_per_cycle)
    p[parameters.MSHRS2], p[parameters.QUEUE2] = cache.miss_lines, cache.queue
    p[parameters.MERGED2] = NEVER if cache.merged is None or p[parameters.MODEL] == CACHED else cache.merged
    p[parameters.FETCHED2] = (cache.fetch_bytes or SECTOR_BYTES) // SECTOR_BYTES
    p[parameters.INTERLEAVE_SHIFT], p[parameters.SPREAD] = _bits(cache.interleave_bytes), SPREADS.index(cache.spread)


def _network(p: Words[Parameters], network: Network) -> None:
    p[parameters.NETWORK_LATENCY] = network.latency
    for sectors in range(LINE_BYTES // SECTOR_BYTES + 1):
        p[parameters.FLITS + sectors] = -(-(HEADER_BYTES + sectors * SECTOR_BYTES) // network.flit_bytes)
    p[parameters.QUEUE_NETWORK], p[parameters.VIRTUAL_CHANNELS] = network.queue, network.virtual_channels
    p[parameters.IS_MESH] = network.kind == "mesh"
    p[parameters.FLITS_PER_CYCLE] = network.flits_per_cycle or 1
    if network.packet is not None:
        p[parameters.BY_SECTOR] = network.packet == PACKETS[0]


def _dram(p: Words[Parameters], dram: Dram, clock_mhz: float) -> None:
    scale = clock_mhz / dram.clock_mhz
    p[parameters.CHANNELS], p[parameters.DRAM_LATENCY], p[parameters.BANKS] = dram.channels, dram.latency, dram.banks
    if p[parameters.MODEL] == CACHED:
        p[parameters.DRAM_LATENCY] += round((dram.rcd + dram.cl) * scale)
    p[parameters.DRAM_SECTOR_TICKS] = _ticks(SECTOR_BYTES / dram.bytes_per_clock * scale)
    p[parameters.ROW_SHIFT], p[parameters.QUEUE_DRAM] = _bits(dram.row_bytes), dram.queue
    for parameter, clocks in (
        (parameters.T_RCD, dram.rcd),
        (parameters.T_RP, dram.rp),
        (parameters.T_RAS, dram.ras),
        (parameters.T_RRD, dram.rrd),
        (parameters.T_CL, dram.cl),
        (parameters.T_WL, dram.wl),
        (parameters.T_WR, dram.wr),
        (parameters.T_WTR, dram.cdlr),
    ):
        p[parameter] = _ticks(clocks * scale)


def _place_queues(p: Words[Parameters]) -> None:
    """Set the first queue of each kind, and the routers of a mesh."""
    width, slice_count = p[parameters.VIRTUAL_CHANNELS], p[parameters.SLICES]
    p[parameters.SET_WORDS] = -(-max(p[parameters.SMS], slice_count) // SET_SIZE)
    p[parameters.SLICE_QUEUES] = p[parameters.SMS] * width
    p[parameters.REPLY_QUEUES] = p[parameters.SLICE_QUEUES] + slice_count
    p[parameters.BANK_QUEUES] = p[parameters.REPLY_QUEUES] + slice_count * width
    p[parameters.MESH_QUEUES] = p[parameters.BANK_QUEUES] + p[parameters.CHANNELS] * p[parameters.BANKS]
    if p[parameters.IS_MESH]:
        corners = int(p[parameters.SMS]) + int(slice_count)
        p[parameters.MESH_WIDTH] = in_row = math.ceil(math.sqrt(corners))
        p[parameters.ROUTERS] = in_row * -(-corners // in_row)


def _place_nodes(memory: Memory, slice_routers: Sequence[int] | None) -> None:
    """Give every SM and slice a router: slices those that are named, SMs the others in order; slices the last ones if
    the mesh has other nodes than those that they are named for.
    """
    p = memory.parameters
    sms, nodes = int(p[parameters.SMS]), int(p[parameters.SMS] + p[parameters.SLICES])
    named = tuple(slice_routers or ())
    if len(named) != nodes - sms or any(router >= nodes for router in named):
        named = tuple(range(sms, nodes))
    routers = [router for router in range(nodes) if router not in named]
    array_of(memory.routers)[:nodes, PLACE] = [*routers, *named]


def _ticks(cycles: float) -> int:
    return round(cycles * TICKS)


def _bits(number: int) -> int:
    """log2, or -1 if not a power of two; -1 also for a single set, because 0 bits cannot be folded."""
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else -1


def _buckets(lines: int) -> int:
    return 1 << (lines - 1).bit_length()


def counters(memory: Memory) -> dict[str, Any]:
    """The counters, summed over the SMs."""
    return dict(zip(counts.NAMES, array_of(memory.counts).sum(axis=0).tolist()[: len(counts.NAMES)], strict=True))
