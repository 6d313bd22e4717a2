"""Traffic without SMs: streams of loads that drive a memory system, to measure latency and throughput under load.

Each SM has a number of *streams*, each with places for some loads under way; a place sends a load, waits until it is
back and for a gap of some cycles, and sends the stream's next.  So streams are warps, and fewer of them are a throttled
SM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpreg.jit.recipe import compiled
from warpreg.timing.core import access_record as record
from warpreg.timing.core.columns.typed import NEVER, NONE, Array
from warpreg.timing.memory import dispatch, heap
from warpreg.timing.memory.layout import Memory

READY, SENT_AT, NUMBER, STREAM_FIELDS = range(4)
"""Of a place for a load under way: when it may send (NEVER while it waits), when it sent; of the first place of a
stream, how many loads the stream has sent."""
CYCLES, GAP, FOOTPRINT, SECTORS, SEQUENTIAL, STREAMS, OWN, DEPTH, SETTINGS = range(9)
LATENCY_SUM, LOADS, RESULTS = range(3)
STAGGER = 613
"""Lines by which streams begin further inside their parts, so that they do not visit the slices in step."""


@dataclass(frozen=True)
class Traffic:
    """``streams`` for each SM, each with ``depth`` loads under way; ``gap`` cycles between a return and the next load;
    the ``sectors`` of each load.

    Lines come from ``footprint`` lines: at random, or one after the other with each stream in a part of its own.
    ``shared`` says whether all SMs use the same lines.
    """

    streams: int
    footprint: int
    depth: int = 1
    gap: int = 0
    sectors: int = 15
    sequential: bool = False
    shared: bool = True


@dataclass(frozen=True)
class Measured:
    """Loads that came back, their mean latency in cycles, and how many came back in a cycle."""

    loads: int
    latency: float
    throughput: float


def measure(memory: Memory, traffic: Traffic, cycles: int, warm_up: int = 0, sms: int | None = None) -> Measured:
    """Drive a memory system at rest for ``warm_up`` cycles, then measure for ``cycles``; ``sms`` of its SMs send."""
    active = len(memory.sms) if sms is None else sms
    streams = np.zeros((active * traffic.streams * traffic.depth, STREAM_FIELDS), np.int64)
    settings = np.zeros(SETTINGS, np.int64)
    settings[[GAP, FOOTPRINT, SECTORS]] = traffic.gap, traffic.footprint, traffic.sectors
    settings[[SEQUENTIAL, STREAMS, OWN]] = traffic.sequential, traffic.streams, not traffic.shared
    settings[DEPTH] = traffic.depth
    results = np.zeros(RESULTS, np.int64)
    run = compiled(drive, (memory, streams, settings, results, 0))
    settings[CYCLES] = warm_up
    run(memory, streams, settings, results, 0)
    results[:] = 0
    settings[CYCLES] = warm_up + cycles
    run(memory, streams, settings, results, warm_up)
    loads = int(results[LOADS])
    return Measured(loads, float(results[LATENCY_SUM]) / max(1, loads), loads / cycles)


def drive(memory: Memory, streams: Array, settings: Array, results: Array, start: int) -> int:
    """Step from cycle ``start`` until CYCLES; the numba subset of Python."""
    sms = streams.shape[0] // (settings[STREAMS] * settings[DEPTH])
    for now in range(start, settings[CYCLES]):
        if dispatch.next_event(memory, now) <= now:
            dispatch.advance(memory, now)
        for sm in range(sms):
            if heap.next_return(memory, sm) <= now:
                _take_back(memory, streams, settings, results, sm, now)
            if dispatch.accepts(memory, sm, now):
                _send_one(memory, streams, settings, sm, now)
    return 0


def _take_back(memory: Memory, streams: Array, settings: Array, results: Array, sm: int, now: int) -> None:
    ticket = heap.returned(memory, sm, now)
    while ticket != NONE:
        results[LATENCY_SUM] += now - streams[ticket, SENT_AT]
        results[LOADS] += 1
        streams[ticket, READY] = now + settings[GAP]
        ticket = heap.returned(memory, sm, now)


def _send_one(memory: Memory, streams: Array, settings: Array, sm: int, now: int) -> None:
    """The place of this SM that has been ready for longest sends the next load of its stream."""
    count = settings[STREAMS] * settings[DEPTH]
    chosen = sm * count
    for stream in range(sm * count, (sm + 1) * count):
        if streams[stream, READY] < streams[chosen, READY]:
            chosen = stream
    if streams[chosen, READY] > now:
        return
    first = chosen // settings[DEPTH] * settings[DEPTH]
    line = _line(settings, sm, first // settings[DEPTH], streams[first, NUMBER])
    streams[first, NUMBER] += 1
    streams[chosen, READY] = NEVER
    streams[chosen, SENT_AT] = now
    dispatch.send(memory, sm, record.LOAD, line, settings[SECTORS], chosen, now)


def _line(settings: Array, sm: int, stream: int, number: int) -> int:
    """The address of a line of a stream."""
    footprint = settings[FOOTPRINT]
    base = sm * footprint if settings[OWN] == 1 else 0
    if settings[SEQUENTIAL] == 1:
        part = footprint // settings[STREAMS]
        return (base + stream % settings[STREAMS] * part + (number + stream * STAGGER) % part) * 128
    mixed = (number * 0x9E3779B1 + (stream + 1) * 0x85EBCA77) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return (base + (mixed ^ mixed >> 15) % footprint) * 128
