"""Adapter of the package's memory system to the reference; its functions run as plain Python."""

from __future__ import annotations

from typing import Any

from warpreg.gpu.machine import Machine
from warpreg.timing import memory as package
from warpreg.timing.memory.between_launches import SecondLevel, SecondLevelState, put

KINDS = {
    "load": package.LOAD, "store": package.STORE, "atomic": package.ATOMIC, "texture": package.TEXTURE,
    "read-only": package.READ_ONLY,
    "ordered": package.ORDERED,
    "spill": package.SPILL,
}  # fmt: skip


def left_by(memory: package.Memory) -> SecondLevel:
    """What the second level holds after a run."""
    state = SecondLevelState()
    state.end(memory)
    assert state.contents is not None
    return state.contents


class PackageMemory:
    """The memory system of a machine, initially idle, with ``contents`` in its second level."""

    def __init__(self, machine: Machine, sms: int, shared_bytes: int = 0, contents: SecondLevel | None = None) -> None:
        self._memory = package.for_machine(machine, sms, shared_bytes)
        if contents is not None:
            put(self._memory, contents)
        self._functions = package.functions(self._memory)

    @property
    def left(self) -> SecondLevel:
        """What the second level holds after a run."""
        return left_by(self._memory)

    @property
    def counters(self) -> dict[str, Any]:
        """What it has counted up to the last cycle."""
        return package.counters(self._memory)

    def accepts(self, sm: int, now: int) -> bool:
        return bool(self._functions.accepts(self._memory, sm, now))

    def joins(self, sm: int, sectors: int, now: int) -> bool:
        return bool(self._functions.joins(self._memory, sm, sectors, now))

    def send(self, sm: int, kind: str, line: int, sectors: int, ticket: int, now: int) -> None:
        self._functions.send(self._memory, sm, KINDS[kind], line, sectors, ticket, now)

    def advance(self, now: int) -> None:
        self._functions.advance(self._memory, now)

    def next_event(self, now: int) -> int:
        return int(self._functions.next_event(self._memory, now))

    def returned(self, sm: int, now: int) -> int | None:
        ticket = int(self._functions.returned(self._memory, sm, now))
        return None if ticket == package.NONE else ticket
