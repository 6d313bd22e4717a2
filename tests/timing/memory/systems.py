"""Small memory systems for tests, and a driver with the terms of the tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warpreg.gpu.memory import Dram, FirstLevel, MemorySystem, Model, Network, SecondLevel
from warpreg.timing import memory as m

FIXED = MemorySystem(Model("fixed", 32, 64, bytes_per_cycle=32))
CACHED = MemorySystem(
    Model("cached", 32, 64),
    FirstLevel(bytes=1024, ways=2, latency=10, miss_lines=4, sectors_per_cycle=4, write="evict", skip_global=False),
    SecondLevel(
        slices=2, bytes=2048, ways=4, latency=20, sectors_per_cycle=1, miss_lines=8, queue=4, interleave_bytes=256,
        spread="folded",
    ),
    Network(kind="crossbar", latency=5, flit_bytes=40, queue=4, virtual_channels=1),
    Dram(
        channels=1, clock_mhz=1000, bytes_per_clock=16, latency=100, banks=4, row_bytes=2048, queue=8,
        rcd=12, rp=12, ras=28, rrd=6, cl=12, wl=4, wr=12, cdlr=5,
    ),
)  # fmt: skip
"""At a core clock of 1000 MHz a sector takes 2 cycles of the DRAM bus."""

CONTENTION = replace(CACHED, memory=Model("contention", 32, 64))
MESH = replace(CONTENTION, network=replace(CONTENTION.network or Network("mesh", 1, 1, 1, 1), kind="mesh", latency=2))


def change(system: MemorySystem, **sections: dict[str, Any]) -> MemorySystem:
    """The system with other numbers: ``change(CACHED, l1={"ways": 4})``."""
    parts = {name: replace(getattr(system, name), **numbers) for name, numbers in sections.items()}
    return replace(system, **parts)


class Driver:
    """Sends transactions and steps cycles: the functions of the model as they are."""

    def __init__(self, system: MemorySystem, sms: int = 1, latency: int = 100, texture_latency: int = 150) -> None:
        self.memory = m.build(system, sms, 1000.0, latency, texture_latency)
        self.ask = m.functions(self.memory)
        self.now = 0
        self.back: dict[int, int] = {}

    def to(self, cycle: int) -> None:
        """Let cycles pass up to and including ``cycle``."""
        while self.now < cycle:
            self.now += 1
            self._begin()

    def _begin(self) -> None:
        if self.ask.next_event(self.memory, self.now) <= self.now:
            self.ask.advance(self.memory, self.now)
        for sm in range(len(self.memory.sms)):
            while (ticket := int(self.ask.returned(self.memory, sm, self.now))) != m.NONE:
                assert ticket not in self.back
                self.back[ticket] = self.now

    def accepts(self, sm: int = 0) -> bool:
        return bool(self.ask.accepts(self.memory, sm, self.now))

    def send(self, ticket: int, line: int, sectors: int = 15, kind: int = m.LOAD, sm: int = 0) -> None:
        """Send as soon as the memory accepts."""
        while not self.accepts(sm):
            again = int(self.ask.retry(self.memory, sm, self.now))
            self.to(self.now + 1 if again == m.NEVER else max(self.now + 1, again))
        self.ask.send(self.memory, sm, kind, line, sectors, ticket, self.now)

    def when(self, ticket: int) -> int:
        """The cycle in which a ticket came back."""
        for _ in range(100_000):
            if ticket in self.back:
                return self.back[ticket]
            self.to(self.now + 1)
        raise AssertionError(f"ticket {ticket} never came back")

    def count(self, name: str) -> int:
        return int(m.counters(self.memory)[name])
