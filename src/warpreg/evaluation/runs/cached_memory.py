"""Machines with a simpler memory, for measurements that span the whole suite."""

from __future__ import annotations

from dataclasses import replace

from warpreg.gpu import Machine


def with_cached_memory(machine: Machine) -> Machine:
    """The machine with the `cached` model in place of `contention`."""
    if machine.memory.memory.model != "contention":
        return machine
    return replace(machine, memory=replace(machine.memory, memory=replace(machine.memory.memory, model="cached")))
