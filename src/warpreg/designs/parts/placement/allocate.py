"""Greedy allocation by savings per occupied slot (sections 4.2 and 4.3, Figure 7)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from warpreg.designs.parts.placement.candidates import Candidate
from warpreg.designs.parts.placement.costs import LevelCost

Partial = str
"""When a candidate that does not fit is shortened: ``none`` (never), ``immediate`` (when it is tried) or ``after`` (all
full ranges have been tried)."""


class Entries:
    """Occupancy of the entries of one level in one strand, in the time units of `Candidate.span`."""

    def __init__(self, count: int) -> None:
        self._taken = [0] * count

    def fit(self, candidate: Candidate) -> int | None:
        """The first of the lowest adjacent entries that are free for the candidate's whole span, or None."""
        span = _bits(candidate)
        for first in range(len(self._taken) - candidate.width + 1):
            if not any(taken & span for taken in self._taken[first : first + candidate.width]):
                return first
        return None

    def take(self, candidate: Candidate, first: int) -> None:
        """Assign entries to the candidate, from ``first`` on."""
        for entry in range(first, first + candidate.width):
            self._taken[entry] |= _bits(candidate)


def _bits(candidate: Candidate) -> int:
    begin, end = candidate.span
    return ((1 << (end - begin + 1)) - 1) << begin


@dataclass(frozen=True, slots=True)
class Allocation:
    """A candidate with the first of its entries in a level, and the pJ saved per execution."""

    candidate: Candidate
    level: int
    entry: int
    savings: float


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate that was placed in no level, and the reason."""

    candidate: Candidate
    reason: str


@dataclass
class Outcome:
    """The placed and the refused candidates."""

    placed: list[Allocation] = field(default_factory=list)
    refused: list[Rejection] = field(default_factory=list)


@dataclass(frozen=True)
class Allocator:
    """Assigns the entries of one level to candidates that save more than ``threshold``, in pJ per occupied slot.

    ``slots_weigh``: candidates are ordered by savings / slots ** ``slots_weigh``; 1 in the paper.
    """

    level: int
    cost: LevelCost
    mrf: LevelCost
    threshold: float = 0.0
    partial: Partial = "immediate"
    slots_weigh: float = 1.0

    def savings(self, candidate: Candidate) -> float:
        """pJ that the candidate would save in this level."""
        return candidate.savings(self.cost, self.mrf)

    def priority(self, candidate: Candidate) -> float:
        """pJ saved per slot that the candidate would occupy."""
        return self.savings(candidate) / candidate.slots

    def allocate(self, candidates: Iterable[Candidate], entries: Entries) -> Outcome:
        """Place candidates, the best first; ties go to the earlier one."""
        outcome, waiting = Outcome(), list[Candidate]()
        for candidate in self._by_priority(candidates, outcome):
            entry = entries.fit(candidate)
            if entry is not None:
                self._place(candidate, entry, entries, outcome)
            elif self.partial == "after":
                waiting.append(candidate)
            else:
                self._shorten(candidate, entries, outcome)
        for candidate in waiting:
            self._shorten(candidate, entries, outcome)
        return outcome

    def _by_priority(self, candidates: Iterable[Candidate], outcome: Outcome) -> Iterator[Candidate]:
        queue: list[tuple[float, int, Candidate]] = []
        for number, candidate in enumerate(candidates):
            priority = self.priority(candidate)
            if priority > self.threshold:
                queue.append((-self._rank(candidate, priority), number, candidate))
            else:
                outcome.refused.append(Rejection(candidate, f"saves {self.savings(candidate):.1f} pJ"))
        heapq.heapify(queue)
        while queue:
            yield heapq.heappop(queue)[-1]

    def _rank(self, candidate: Candidate, priority: float) -> float:
        return priority if self.slots_weigh == 1.0 else self.savings(candidate) / candidate.slots**self.slots_weigh

    def _shorten(self, candidate: Candidate, entries: Entries, outcome: Outcome) -> None:
        for shorter in self._ranges(candidate):
            entry = entries.fit(shorter)
            if entry is not None:
                self._place(shorter, entry, entries, outcome)
                return
        outcome.refused.append(
            Rejection(candidate, f"no entry is free, it would save {self.savings(candidate):.1f} pJ")
        )

    def _ranges(self, candidate: Candidate) -> Iterator[Candidate]:
        """Successively shorter ranges, while they save energy."""
        shorter = candidate.shortened() if self.partial != "none" else None
        while shorter is not None and self.priority(shorter) > self.threshold:
            yield shorter
            shorter = shorter.shortened()

    def _place(self, candidate: Candidate, entry: int, entries: Entries, outcome: Outcome) -> None:
        entries.take(candidate, entry)
        outcome.placed.append(Allocation(candidate, self.level, entry, self.savings(candidate)))
