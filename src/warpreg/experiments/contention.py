"""How memory slows down under load: latency against the number of SMs, and what throttled warps gain.

Traffic drives the contention model by itself.  Three memories: one as a machine's file has it; one whose DRAM has few
controllers, banks and places to reorder, where the streams of many warps close each other's rows; and one with buffers,
banks and bandwidth that never run out, where both effects have to vanish.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.gpu import Machine
from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory
from warpreg.timing.errors import TimingError
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


def contended(machine: Machine) -> MemorySystem:
    """A machine's memory in the contention model.  Raises TimingError if its file describes none."""
    system = machine.memory
    if system.l2 is None or system.network is None or system.dram is None:
        raise TimingError(f"{machine.name}: contention needs [l2], [network] and [dram] in the machine's file")
    return replace(system, memory=replace(system.memory, model="contention", bytes_per_cycle=None))


def contending(machine: Machine) -> Machine:
    """The machine with the contention model of memory; raises as `contended`."""
    return replace(machine, memory=contended(machine))


def narrow(system: MemorySystem) -> MemorySystem:
    """Six DRAM controllers of eight banks that choose among 16 bursts, and a row of memory in one slice."""
    assert system.l2 is not None
    assert system.dram is not None
    dram = replace(system.dram, channels=6, banks=8, queue=16)
    return replace(system, dram=dram, l2=replace(system.l2, interleave_bytes=dram.row_bytes, spread="consecutive"))


def unlimited(system: MemorySystem) -> MemorySystem:
    """Queues that are never full, rows that open at once, a bus without limit, slices and ports as wide as a line."""
    assert system.l1 is not None
    assert system.l2 is not None
    assert system.network is not None
    assert system.dram is not None
    many = 1 << 12
    return replace(
        system,
        memory=replace(system.memory, outstanding=many),
        l1=replace(system.l1, miss_lines=many),
        l2=replace(system.l2, queue=many, miss_lines=many, sectors_per_cycle=4),
        network=replace(system.network, queue=many, flit_bytes=1024),
        dram=replace(system.dram, channels=12, queue=many, banks=256, bytes_per_clock=4096, rcd=0, rp=0, ras=0, rrd=0),
    )


def latency_against_load(machine: Machine, system: MemorySystem, sms: Iterable[int]) -> tuple[Point, ...]:
    """Mean latency of a load with so many SMs sending."""
    return tuple(Point(count, _measure(machine, system, LOADS, count)) for count in sms)


def throttling(machine: Machine, system: MemorySystem, streams: Iterable[int]) -> tuple[Point, ...]:
    """Throughput of all SMs with so many streams of each, which read rows of their own, two loads at a time."""
    points = []
    for count in streams:
        traffic = Traffic(count, count * PART_LINES, depth=2, sectors=1, sequential=True, shared=False)
        points.append(Point(count, _measure(machine, system, traffic, SMS)))
    return tuple(points)


def _measure(machine: Machine, system: MemorySystem, traffic: Traffic, sms: int) -> Measured:
    latency = machine.latency
    built = memory.build(system, SMS, machine.chip.clock_mhz, latency.dram, latency.texture)
    return measure(built, traffic, CYCLES, WARM_UP, sms)
