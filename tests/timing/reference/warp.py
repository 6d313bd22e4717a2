"""A warp in its slot, and its thread block."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.timing.reference.instruction import Instruction, Step, UnderWay

from warpreg.designs.interface.program import WAITS_FOR_ALL


@dataclass(eq=False)
class Warp:
    """``age`` orders warps by placement; ``scoreboard`` names for each cell the instruction that will write it.

    Asynchronous copies: ``copies`` issued, ``copied`` complete, ``committed`` issued at each commit, ``copies_awaited``
    that must be complete before the warp continues.  ``token`` is the one that `admit` returned; after it is woken,
    `admit` is called again from cycle ``asks_from`` on.  ``waits``: `stalled` was called, and `resumed` was not.
    ``is_refused``: `admit` has refused its head for a number of cycles; ``stays``: it waits for a token in the active
    set.
    ``line`` of code that it asked for last; ``asked``: the position at which it has waited for a constant.
    ``counters``: the instructions that a counter counts; ``counted``: those that it has counted since it was last 0.
    """

    slot: int
    age: int
    index: int
    steps: tuple[Step, ...]
    fetched: int
    block: ThreadBlock
    position: int = 0
    held_for: str = "fetch"
    line: int | None = None
    asked: int | None = None
    scoreboard: dict[int | str, UnderWay] = field(default_factory=dict)
    under_way: list[UnderWay] = field(default_factory=list)
    away: int = 0
    at_barrier: bool = False
    gathers_at: int | None = None
    at_fence: bool = False
    copies: int = 0
    copied: int = 0
    committed: list[int] = field(default_factory=list)
    copies_awaited: int | None = None
    token: int | None = None
    asks_from: int = 0
    waits: bool = False
    is_refused: bool = False
    stays: bool = False
    end_was_told: bool = False
    last_issue: int = -1
    activated: int = -1
    suspended_by: int = -1
    waits_for_all: bool = False
    counters: dict[int, list[UnderWay]] = field(default_factory=lambda: {counter: [] for counter in range(6)})
    counted: dict[int, list[UnderWay]] = field(default_factory=lambda: {counter: [] for counter in range(6)})

    def hold(self, until: int, cause: str) -> None:
        """Keep the head from issuing before a cycle; the cause is that of what ends last."""
        if until > self.fetched:
            self.fetched, self.held_for = until, cause

    @property
    def head(self) -> Step | None:
        """The next instruction, None when all have issued."""
        return self.steps[self.position] if self.position < len(self.steps) else None

    @property
    def has_ended(self) -> bool:
        return self.head is None and not self.under_way and not self.away

    @property
    def is_fenced(self) -> bool:
        """Whether it waits at a fence."""
        waits = self.under_way if self.copies_awaited is None else self.copied < self.copies_awaited
        return self.at_fence and bool(waits)

    def copy(self, instruction: Instruction) -> None:
        """Copies that an instruction issues, groups or waits for."""
        self.copies += instruction.copies
        if instruction.commits:
            self.committed.append(self.copies)
        self.copies_awaited = None
        if instruction.awaits is not None:
            others = self.committed[: len(self.committed) - instruction.awaits]
            self.copies_awaited = others[-1] if others else 0

    @property
    def waits_for_others(self) -> bool:
        """Whether it waits at a barrier, a fence or a token."""
        return self.at_barrier or self.is_fenced or self.token is not None

    def awaited(self) -> list[UnderWay]:
        """The instructions that still have to write a cell of the head, or any cell."""
        assert self.head is not None
        if (control := self.head.instruction.control) is not None:
            return [one for counter in sorted(control.waits) for one in self.counted[counter]]
        if self.waits_for_all:
            return list(self.scoreboard.values())
        return [self.scoreboard[cell] for cell in self.head.instruction.cells if cell in self.scoreboard]

    def overwrites_sources(self) -> bool:
        """Whether the head has no control code and writes what an earlier instruction still has to read."""
        assert self.head is not None
        own = self.head.instruction
        unread = {cell for one in self.under_way if not one.has_read for cell in one.instruction.cells}
        return own.control is None and not unread.isdisjoint(own.result_cells)

    @property
    def exceeds_limit(self) -> bool:
        """Whether more instructions of a counter are under way than the head allows."""
        control = self.head.instruction.control if self.head else None
        return bool(control and control.limit and len(self.counters[control.limit[0]]) > control.limit[1])

    def count(self, issued: UnderWay, counter: int | None) -> None:
        """An instruction that issues increments a counter."""
        if counter is not None:
            self.counters[counter].append(issued)
            self.counted[counter].append(issued)

    def count_down(self, issued: UnderWay, counter: int | None) -> None:
        """It decrements it."""
        if counter is not None:
            self.counters[counter].remove(issued)
            if not self.counters[counter]:
                self.counted[counter].clear()

    def needs_long_latency_result(self) -> bool:
        """Whether one is outstanding that the head accesses, or any if it waits for all."""
        assert self.head is not None
        every = self.head.instruction.suspends == WAITS_FOR_ALL
        writers = self.scoreboard.values() if every else self.awaited()
        return any(writer.instruction.long_latency for writer in writers)


@dataclass(eq=False)
class ThreadBlock:
    """A resident thread block.

    ``arrived``: number of warps by number of a barrier with a count; ``complete``: the barriers whose count is reached.
    ``arrived_by``: when the barrier unit has taken the last arrival.
    """

    index: int
    warps: list[Warp] = field(default_factory=list)
    arrived: Counter[int] = field(default_factory=Counter)
    complete: set[int] = field(default_factory=set)
    arrived_by: int = 0

    @property
    def has_ended(self) -> bool:
        return all(warp.has_ended for warp in self.warps)

    def gather(self, number: int, warps: int) -> None:
        """Count a warp at a barrier with a count."""
        self.arrived[number] += 1
        if self.arrived[number] >= warps:
            self.complete.add(number)

    def release(self, latency: int) -> None:
        """Release warps whose barrier is complete; then all, if each waits at a barrier or has nothing left to
        issue.  They may issue ``latency`` cycles after the last arrival.
        """
        self._let_go([warp for warp in self.warps if warp.gathers_at in self.complete], latency)
        for number in self.complete:
            self.arrived[number] = 0
        self.complete.clear()
        if all(warp.at_barrier or warp.head is None for warp in self.warps):
            self._let_go(self.warps, latency)

    def _let_go(self, warps: list[Warp], latency: int) -> None:
        for warp in warps:
            if warp.at_barrier:
                warp.hold(self.arrived_by + latency, "barrier")
            if warp.gathers_at is not None:
                self.arrived[warp.gathers_at] = 0
            warp.at_barrier, warp.gathers_at = False, None
