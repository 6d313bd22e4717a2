"""Machines with the contention model of memory: any machine's own, and two made to show what limits do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warpreg.gpu import Machine, load
from warpreg.gpu.memory import MemorySystem
from warpreg.timing.errors import TimingError

FOLDER = Path(__file__).parent


def contended(machine: Machine) -> MemorySystem:
    """A machine's memory in the contention model.  Raises TimingError if its file describes none."""
    system = machine.memory
    if system.l2 is None or system.network is None or system.dram is None:
        raise TimingError(f"{machine.name}: contention needs [l2], [network] and [dram] in the machine's file")
    return replace(system, memory=replace(system.memory, model="contention", bytes_per_cycle=None))


def contending(machine: Machine) -> Machine:
    """The machine with the contention model of memory; raises as `contended`."""
    return replace(machine, memory=contended(machine))


def narrow() -> Machine:
    """A Titan X with six DRAM controllers of eight banks that choose among 16 bursts; a slice has whole rows."""
    return load(FOLDER / "narrow.toml")


def unlimited() -> Machine:
    """A Titan X whose queues are never full, whose rows open at once, whose bus has no limit, whose slices and ports
    are as wide as a line."""
    return load(FOLDER / "unlimited.toml")
