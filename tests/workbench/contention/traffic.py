"""Latency against the number of SMs, and the effect of throttling, with synthetic traffic instead of kernels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warpreg.gpu import Machine
from warpreg.timing import memory
from warpreg.timing.memory.traffic import Traffic, TrafficResult, measure

SMS = 28
"""The number of SMs of a Titan X."""

WARM_UP = 2000
CYCLES = 3000
LOADS = Traffic(streams=96, footprint=1 << 22, sectors=1)
"""96 outstanding random single-sector loads per SM in 512 MB; one SM alone does not saturate its port."""

PART_LINES = 4080
"""Lines of each stream: 255 rows, so that streams begin in different channels and banks."""


@dataclass(frozen=True)
class Point:
    """A measurement with a number of SMs, or of streams per SM."""

    load: int
    measured: TrafficResult


def latency_against_load(machine: Machine, sms: Iterable[int]) -> tuple[Point, ...]:
    """Mean latency of a load for each number of active SMs."""
    return tuple(Point(count, _measure(machine, LOADS, count)) for count in sms)


def throttling(machine: Machine, streams: Iterable[int]) -> tuple[Point, ...]:
    """Throughput of all SMs for each number of streams per SM; each reads separate rows, two loads at a time."""
    points = []
    for count in streams:
        traffic = Traffic(count, count * PART_LINES, depth=2, sectors=1, sequential=True, shared=False)
        points.append(Point(count, _measure(machine, traffic, SMS)))
    return tuple(points)


def _measure(machine: Machine, traffic: Traffic, sms: int) -> TrafficResult:
    latency = machine.latency
    built = memory.build(machine.memory, SMS, machine.chip.clock_mhz, latency.dram, latency.texture)
    return measure(built, traffic, CYCLES, WARM_UP, sms)
