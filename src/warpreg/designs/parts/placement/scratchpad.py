"""Greedy allocation of a register scratchpad, per strand (CASES 2018, section III-B).

As in the allocation of the operand register file, candidates are taken by the energy saved per occupied slot.  A
candidate that does not fit is shortened and queued again.  A result loses its accesses from the tail; if nothing is
left, it is tried again without its first write and the reads of that.  An operand of N reads is replaced by its windows
of N - 1 consecutive reads, then of N - 2, and so on.  Once a shorter range is placed, reads outside it become new
candidates, because their value is in the backing store; reads separated by a guarded write or a write on another path
become separate candidates.

A range of the paper may hold several writes of a register.  Here, writes that reach common reads are one candidate;
other writes are separate candidates, which may use one entry in sequence and so serve the same accesses.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from warpreg.analysis.dominators import DominatorTree, dominators
from warpreg.analysis.first_dependence import FirstDependenceRules
from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.analysis.strands import Strand, StrandRules, strands
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program
from warpreg.designs.interface.residency import Room
from warpreg.designs.parts.placement.allocate import Allocation, Allocator, Entries, Outcome, Rejection
from warpreg.designs.parts.placement.candidates import Candidate, operands, precedes, results
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.hierarchy import Placement
from warpreg.designs.parts.placement.instances import KernelView, Read, accesses_of
from warpreg.ir.kernel import Kernel

RSP_LEVEL = 1
ALLOCATORS = ("rc-rsp", "orf-lrf")
RULES: dict[str, Callable[..., StrandRules]] = {"rc-rsp": FirstDependenceRules, "orf-lrf": LongLatencyRules}
"""Rules of strands, by the paper that they are of."""


@dataclass(frozen=True)
class ScratchpadOptions:
    """What a scratchpad may hold, and how its contents are chosen."""

    cost: LevelCost
    """Of the scratchpad."""
    backing: LevelCost
    """Cost of the backing store."""
    rules: StrandRules
    entries: int
    tail_only: bool = False
    """Ranges lose accesses from the tail only, and lost accesses form no new candidate, as in MICRO 2011."""
    several_writes: bool = True
    """A range may have more than one write."""
    live_out: bool = True
    """Results that use the backing store too are allowed."""
    operands: bool = True
    """Operands that use the backing store too are allowed."""
    level: int = RSP_LEVEL
    """Of the scratchpad in the design."""
    allocator: str = "rc-rsp"
    """Whose choice among the candidates; that of MICRO 2011 by `Allocator`."""
    brief_last: bool = False
    """Puts ranges whose accesses follow each other directly behind all others."""


def check_in_time(design: str, room: Room | None, *, flush_at_barriers: bool) -> None:
    """Raise DesignError for strands that go on at barriers in a timed run, the only one that has a ``room``.

    A warp that waits at a barrier leaves the active set, and another one gets its part of the scratchpad.
    """
    if room is not None and not flush_at_barriers:
        raise DesignError(
            f"{design}: flush_at_barriers expects true in a timed run, where a warp that waits at a barrier gives up "
            "its part of the scratchpad; false is for replays"
        )


def place_in_scratchpad(kernel: Kernel, program: Program, options: ScratchpadOptions) -> Placement:
    """Place the values of a kernel, strand by strand."""
    whole = strands(kernel, options.rules, [bool(x) for x in program.long_latency])
    view = KernelView(kernel, program)
    outcome = Outcome()
    for strand in whole.strands:
        found = select(view, strand, options)
        outcome.placed += found.placed
        outcome.refused += found.refused
    return Placement(whole, tuple(outcome.placed), tuple(outcome.refused))


def select(view: KernelView, strand: Strand, options: ScratchpadOptions) -> Outcome:
    """The allocation of one strand."""
    if options.allocator == "orf-lrf":
        return _as_in_orf_lrf(view, strand, options)
    selection = _Selection(options, view.blocks, dominators(view.kernel))
    for candidate in _candidates(view, strand, options):
        selection.add(candidate)
    selection.run()
    return selection.outcome


def _as_in_orf_lrf(view: KernelView, strand: Strand, options: ScratchpadOptions) -> Outcome:
    """The allocation by the rules of MICRO 2011, sections 4.2 and 4.3, with this paper's candidates."""
    allocator = Allocator(options.level, options.cost, options.backing)
    allowed = [one for one in _candidates(view, strand, options) if _is_allowed(one, options)]
    return allocator.allocate(allowed, Entries(options.entries))


def _is_allowed(candidate: Candidate, options: ScratchpadOptions) -> bool:
    return options.live_out or not any(write.needs_mrf for write in candidate.writes)


def _candidates(view: KernelView, strand: Strand, options: ScratchpadOptions) -> Iterator[Candidate]:
    accesses = accesses_of(view, strand)
    for candidate in results(accesses):
        if options.several_writes or len(candidate.writes) == 1:
            yield candidate
    if options.operands and options.live_out:
        yield from operands(accesses, view.blocks, dominators(view.kernel))


@dataclass
class _Family:
    """A candidate and its replacements; ``pending`` of the current replacements have not been tried yet."""

    original: Candidate
    reads: int
    pending: int = 1
    is_placed: bool = False
    is_restarted: bool = False


@dataclass
class _Selection:
    """The selection for one strand; ``blocks`` by pc."""

    options: ScratchpadOptions
    blocks: Sequence[int]
    tree: DominatorTree
    outcome: Outcome = field(default_factory=Outcome)

    def __post_init__(self) -> None:
        self.entries = Entries(self.options.entries)
        self._queue: list[tuple[bool, float, int, Candidate, _Family]] = []
        self._count = 0

    def add(self, candidate: Candidate) -> None:
        """Add a candidate, as the first of a new family."""
        family = _Family(candidate, len(candidate.reads))
        if not self._push(candidate, family):
            self.outcome.refused.append(Rejection(candidate, f"saves {self._savings(candidate):.1f} pJ"))

    def run(self) -> None:
        """Take candidates by score until none is left."""
        while self._queue:
            *_, candidate, family = heapq.heappop(self._queue)
            if family.is_placed:
                continue
            entry = self.entries.fit(candidate)
            if entry is not None:
                self._place(candidate, entry, family)
            else:
                self._replace(candidate, family)

    def _savings(self, candidate: Candidate) -> float:
        return candidate.savings(self.options.cost, self.options.backing)

    def _push(self, candidate: Candidate, family: _Family) -> bool:
        savings = self._savings(candidate)
        if not _is_allowed(candidate, self.options) or savings <= 0:
            return False
        is_late = self.options.brief_last and candidate.is_brief
        heapq.heappush(self._queue, (is_late, -savings / candidate.slots, self._count, candidate, family))
        self._count += 1
        return True

    def _place(self, candidate: Candidate, entry: int, family: _Family) -> None:
        self.entries.take(candidate, entry)
        savings = self._savings(candidate)
        self.outcome.placed.append(Allocation(candidate, self.options.level, entry, savings))
        family.is_placed = True
        if not self.options.tail_only and self.options.operands and self.options.live_out:
            for rest in self._left_out(candidate, family.original):
                self.add(rest)

    def _replace(self, candidate: Candidate, family: _Family) -> None:
        family.pending -= 1
        if family.pending == 0 and not self._next(candidate, family):
            reason = f"no entry is free, it would save {self._savings(family.original):.1f} pJ"
            self.outcome.refused.append(Rejection(family.original, reason))

    def _next(self, candidate: Candidate, family: _Family) -> bool:
        """Push the replacements of a candidate that does not fit; False if there are none."""
        if candidate.fill and not self.options.tail_only:
            while family.reads > 1 and family.pending == 0:
                family.reads -= 1
                windows = list(self._windows(family.original, family.reads))
                family.pending = sum(self._push(window, family) for window in windows)
            return family.pending > 0
        shorter = candidate.shortened()
        while shorter is not None or not family.is_restarted:
            if shorter is None:
                family.is_restarted = True
                shorter = None if self.options.tail_only else _without_first_write(family.original)
                continue
            if self._push(shorter, family):
                family.pending = 1
                return True
            shorter = shorter.shortened()
        return False

    def _windows(self, original: Candidate, later: int) -> Iterator[Candidate]:
        """All ranges of a read that fills, and the next ``later`` reads."""
        assert original.fill is not None
        chain = (original.fill, *original.reads)
        for first in range(len(chain) - later):
            window = self._operand(chain[first : first + later + 1], original)
            if window is not None:
                yield window

    def _operand(self, chain: Sequence[Read], original: Candidate) -> Candidate | None:
        """A candidate whose first read is the fill for the others; None if it cannot serve them all."""
        fill, *follow = chain
        serves = not fill.guarded and all(precedes(fill, read, self.blocks, self.tree) for read in follow)
        return Candidate(tuple(follow), fill=fill, loops=original.loops) if follow and serves else None

    def _left_out(self, placed: Candidate, original: Candidate) -> Iterator[Candidate]:
        """Operands among the reads of the original that the placed range does not serve."""
        whole = (*((original.fill,) if original.fill else ()), *original.reads)
        served = {id(read) for read in (*placed.reads, *((placed.fill,) if placed.fill else ()))}
        for (is_served, *_), run in groupby(whole, lambda r: (id(r) in served, r.words, r.reaching)):
            rest = None if is_served else self._operand(list(run), original)
            if rest is not None:
                yield rest


def _without_first_write(candidate: Candidate) -> Candidate | None:
    """A result without its first write and the reads that this write may reach; None if nothing is left."""
    if candidate.fill or len(candidate.writes) < 2:
        return None
    first, *later = sorted(candidate.writes, key=lambda write: write.at)
    reads = tuple(read for read in candidate.reads if first.key not in read.reaching)
    dropped = {key for read in candidate.reads if first.key in read.reaching for key in read.reaching}
    reached = {key for read in reads for key in read.reaching}
    writes = tuple(replace(w, needs_mrf=w.needs_mrf or w.key in dropped) for w in later if w.key in reached)
    return replace(candidate, reads=reads, writes=writes) if reads else None
