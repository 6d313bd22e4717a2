"""A whole kernel: SMs that share a memory system and receive thread blocks in order.  Every SM runs every cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.timing.reference.hooks import Behaviour, Counts, Shared
from tests.timing.reference.instruction import Step
from tests.timing.reference.log import Issue, Log
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import Memory
from tests.timing.reference.sm import StreamingMultiprocessor

from warpreg.timing.launch.deadlock import WaitingWarp
from warpreg.timing.launch.unfinished_loads import HeldLoad

Path = tuple[Step, ...]


class NoProgressError(Exception):
    """The kernel did not end."""


class StandstillError(Exception):
    """All remaining warps wait for tokens, or for loads that hooks hold."""

    def __init__(self, cycle: int, waiting: list[WaitingWarp], held: list[HeldLoad]) -> None:
        super().__init__(f"cycle {cycle}: {waiting}, {held}")
        self.cycle, self.waiting, self.held = cycle, waiting, held


@dataclass(frozen=True)
class Outcome:
    """``logs`` by SM; ``counts`` and ``state`` of the design."""

    cycles: int
    logs: list[Log]
    counts: Counts
    state: Any

    @property
    def issues(self) -> list[Issue]:
        """Issues in order of cycle, then SM, then issue."""
        return sorted(issue for log in self.logs for issue in log.issues)

    @property
    def stalls(self) -> Counter[str]:
        """Slot-cycles by cause, over all SMs."""
        return sum((log.stalls for log in self.logs), Counter())


def simulate(
    sm: Sm,
    memory: Memory,
    blocks: Sequence[list[Path]],
    behaviour: Behaviour,
    sms: int = 1,
    resident: int = 8,
    limit: int = 100_000,
) -> Outcome:
    """Run thread blocks, each a list of paths by warp; an SM holds at most ``resident`` of them."""
    shared = Shared(behaviour, sm, sms)
    multiprocessors = [StreamingMultiprocessor(sm, index, memory, shared) for index in range(sms)]
    waiting = list(enumerate(blocks))
    cycles = 0
    for now in range(limit):
        if not waiting and not any(multiprocessor.blocks for multiprocessor in multiprocessors):
            return Outcome(cycles, [one.log for one in multiprocessors], shared.counts, shared.state)
        if memory.next_event(now) <= now:
            memory.advance(now)
        for one in multiprocessors:
            written_banks = one.complete(now)
            one.collect(now, written_banks)
            one.issue(now)
            one.leave(now)
            if waiting and len(one.blocks) < resident and one.has_room_for(len(waiting[0][1])):
                index, paths = waiting.pop(0)
                one.place(index, paths, now)
        _check_progress(multiprocessors, now)
        cycles = now + 1
    raise NoProgressError(f"{limit} cycles have passed")


def _check_progress(multiprocessors: list[StreamingMultiprocessor], now: int) -> None:
    found = [one.tokens_waited_for() for one in multiprocessors]
    held = [load for one in multiprocessors for load in one.held_loads()]
    if all(one is not None for one in found) and (any(found) or held):
        raise StandstillError(now, [waiting for one in found for waiting in one or []], held)
