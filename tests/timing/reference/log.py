"""Log of events with their cycles; the tests query it in the terms of docs/reference/timing.md."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Issue:
    """An instruction issued: ``warp`` is its index in its thread block ``block``, ``position`` that on its path."""

    cycle: int
    sm: int
    sequence: int
    slot: int
    block: int
    warp: int
    position: int
    pc: int


@dataclass(frozen=True)
class BankAccess:
    """A bank read or written by the instruction of that sequence number."""

    cycle: int
    bank: int
    action: str
    sequence: int
    word: int


@dataclass
class Log:
    """The events of one SM.  ``stalls[cause]`` counts slot-cycles, ``load_cycles`` are those of each load,
    ``fetches`` those of each register that the design fetched, ``spills`` how many it sent to memory;
    ``shared[whose]`` counts words read together with one of ``the same`` instruction, or of ``another``."""

    issues: list[Issue] = field(default_factory=list)
    accesses: list[BankAccess] = field(default_factory=list)
    dispatched: dict[int, int] = field(default_factory=dict)
    completed: dict[int, int] = field(default_factory=dict)
    stalls: Counter[str] = field(default_factory=Counter)
    activations: list[tuple[int, int]] = field(default_factory=list)
    suspensions: list[tuple[int, int]] = field(default_factory=list)
    placed: list[tuple[int, int]] = field(default_factory=list)
    left: list[tuple[int, int]] = field(default_factory=list)
    load_cycles: list[int] = field(default_factory=list)
    fetches: list[int] = field(default_factory=list)
    spills: int = 0
    shared: Counter[str] = field(default_factory=Counter)

    def bank(self, cycle: int, bank: int, action: str, sequence: int, word: int) -> None:
        self.accesses.append(BankAccess(cycle, bank, action, sequence, word))
