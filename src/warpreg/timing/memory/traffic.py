"""Synthetic traffic: streams of loads that drive a memory system without SMs, to measure latency and throughput.

Each SM has a number of *streams*, each with some loads in flight.  A load is sent when an earlier one of its place has
returned and a gap of some cycles has passed.  A stream corresponds to a warp; fewer streams model a throttled SM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from piecewise_numba.recipe import compiled
from warpreg.timing.core import access_record as record
from warpreg.timing.core.typed import NEVER, NONE, Array
from warpreg.timing.memory import dispatch, heap
from warpreg.timing.memory.layout import Memory

READY, SENT_AT, NUMBER, STREAM_FIELDS = range(4)
"""Columns of a load in flight: first cycle in which it may send (NEVER while it waits), cycle in which it was sent; in
the first row of a stream, the number of loads sent.
"""
CYCLES, GAP, FOOTPRINT, SECTORS, SEQUENTIAL, STREAMS, OWN, DEPTH, SETTINGS = range(9)
LATENCY_SUM, LOADS, RESULTS = range(3)
STAGGER = 613
"""Offset in lines between the starts of streams, so that they do not visit the slices in step."""


@dataclass(frozen=True)
class Traffic:
    """``streams`` per SM, each with ``depth`` loads in flight; ``gap`` cycles between a return and the next load;
    ``sectors`` per load.

    Lines are in a range of ``footprint`` lines: at random, or sequential with a part of its own for each stream.
    ``shared``: whether all SMs use the same lines.
    """

    streams: int
    footprint: int
    depth: int = 1
    gap: int = 0
    sectors: int = 15
    sequential: bool = False
    shared: bool = True


@dataclass(frozen=True)
class TrafficResult:
    """Number of loads that returned, their mean latency in cycles, and loads per cycle."""

    loads: int
    latency: float
    throughput: float


def measure(memory: Memory, traffic: Traffic, cycles: int, warm_up: int = 0, sms: int | None = None) -> TrafficResult:
    """Drive an idle memory system for ``warm_up`` cycles, then measure for ``cycles``; ``sms`` of its SMs send."""
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
    return TrafficResult(loads, float(results[LATENCY_SUM]) / max(1, loads), loads / cycles)


def drive(memory: Memory, streams: Array, settings: Array, results: Array, start: int) -> int:
    """Step from cycle ``start`` until CYCLES; in the numba subset of Python."""
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
    """Send the next load of the stream whose place in this SM has been ready for longest."""
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
    """The line address of the ``number``-th load of a stream."""
    footprint = settings[FOOTPRINT]
    base = sm * footprint if settings[OWN] == 1 else 0
    if settings[SEQUENTIAL] == 1:
        part = footprint // settings[STREAMS]
        return (base + stream % settings[STREAMS] * part + (number + stream * STAGGER) % part) * 128
    mixed = (number * 0x9E3779B1 + (stream + 1) * 0x85EBCA77) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return (base + (mixed ^ mixed >> 15) % footprint) * 128
