"""Latency against the number of SMs, and what throttled warps gain, with traffic that drives the memory by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warpreg.gpu import Machine
from warpreg.timing import memory
from warpreg.timing.memory.traffic import Measured, Traffic, measure

SMS = 28
"""As many as a Titan X has."""

WARM_UP = 2000
CYCLES = 3000
LOADS = Traffic(streams=96, footprint=1 << 22, sectors=1)
"""96 loads of single sectors of each SM under way, anywhere in 512 MB: alone, an SM gets nowhere near its own port."""

PART_LINES = 4080
"""Lines of each stream: 255 rows, so that streams begin in different channels and banks."""


@dataclass(frozen=True)
class Point:
    """What was measured with so many SMs, or with so many streams of each."""

    load: int
    measured: Measured


def latency_against_load(machine: Machine, sms: Iterable[int]) -> tuple[Point, ...]:
    """Mean latency of a load with so many SMs sending."""
    return tuple(Point(count, _measure(machine, LOADS, count)) for count in sms)


def throttling(machine: Machine, streams: Iterable[int]) -> tuple[Point, ...]:
    """Throughput of all SMs with so many streams of each, which read rows of their own, two loads at a time."""
    points = []
    for count in streams:
        traffic = Traffic(count, count * PART_LINES, depth=2, sectors=1, sequential=True, shared=False)
        points.append(Point(count, _measure(machine, traffic, SMS)))
    return tuple(points)


def _measure(machine: Machine, traffic: Traffic, sms: int) -> Measured:
    latency = machine.latency
    built = memory.build(machine.memory, SMS, machine.chip.clock_mhz, latency.dram, latency.texture)
    return measure(built, traffic, CYCLES, WARM_UP, sms)
