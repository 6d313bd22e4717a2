"""Machines with the contention model of memory: any machine, and two that demonstrate the effect of limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warpreg.gpu import Machine, load
from warpreg.gpu.memory import MemorySystem
from warpreg.timing.errors import TimingError

FOLDER = Path(__file__).parent


def contended(machine: Machine) -> MemorySystem:
    """A machine's memory in the contention model.  Raises TimingError if its file lacks the sections for it."""
    system = machine.memory
    if system.l2 is None or system.network is None or system.dram is None:
        raise TimingError(f"{machine.name}: contention needs [l2], [network] and [dram] in the machine's file")
    return replace(system, memory=replace(system.memory, model="contention", bytes_per_cycle=None))


def contending(machine: Machine) -> Machine:
    """The machine with the contention model of memory.  Raises like `contended`."""
    return replace(machine, memory=contended(machine))


def narrow() -> Machine:
    """A Titan X with six DRAM controllers of eight banks and a queue of 16 bursts; rows are not split over slices."""
    return load(FOLDER / "narrow.toml")


def unlimited() -> Machine:
    """A Titan X with unlimited queues, no row activation time, unlimited bus bandwidth, and slices and ports as wide as
    a line."""
    return load(FOLDER / "unlimited.toml")
