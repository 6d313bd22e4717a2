"""The best possible placement of a strand, by an integer program: what the greedy allocation is held against.

A variable says of each stay in a `Family` that it lasts at least that long, so those of a family descend.  An access
takes part in one stay at most.  Entries are alike, so at each moment only their number counts; moments at which too
few values could meet are left out, and the program falls into parts.  Which entry each value gets is found afterwards;
should values of several registers find no neighbours, the program learns which of them cannot be together, and is
solved again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from warpreg.analysis.dominators import dominators
from warpreg.analysis.strands import Strand
from warpreg.designs.placement.allocate import Placed
from warpreg.designs.placement.candidates import Candidate
from warpreg.designs.placement.copies import Copied
from warpreg.designs.placement.instances import KernelView, accesses_of
from warpreg.designs.placement.integer import Packing, Solution, solve
from warpreg.designs.placement.packing import UndecidedError, culprits, pack
from warpreg.designs.placement.stays import ANY, Choices, Family, Rooms, families

LIMIT_S = 60.0
"""Seconds that the solver has for one strand."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best placement found of a strand: ``savings`` in pJ for each time that each of its accesses is executed once.

    No placement saves more than ``bound``, and ``proven`` says that this one does.  ``copied`` are values that are in
    the LRF besides the ORF.
    """

    placed: tuple[Placed, ...]
    copied: tuple[Copied, ...]
    savings: float
    bound: float
    proven: bool


@dataclass(frozen=True, slots=True)
class _Stay:
    """The variable of one stay of a family, and the one of the next shorter stay."""

    family: Family
    place: int
    shorter: int | None

    @property
    def candidate(self) -> Candidate:
        return self.family.stays[self.place]

    @property
    def first(self) -> int:
        """When it begins to occupy its entries, the shorter stay apart, in half instructions."""
        return self.candidate.span[0] if self.place == 0 else self.family.stays[self.place - 1].span[1] + 1

    @property
    def serves(self) -> list[int]:
        """The rows of the reads that it serves and the shorter stay does not."""
        before = {read.rows[0] for read in self.family.stays[self.place - 1].reads} if self.place else set()
        return [read.rows[0] for read in self.candidate.reads if read.rows[0] not in before]


def optimum(
    view: KernelView,
    strand: Strand,
    rooms: Rooms,
    choices: Choices = ANY,
    limit_s: float = LIMIT_S,
    given: Sequence[Placed] | None = None,
) -> Optimum:
    """The best placement of a strand; not proven if the solver runs out of time.

    Results that are ``given`` have a place in the LRF, which is not counted; all others get places in the ORF alone.
    """
    found = accesses_of(view, strand)
    program = Packing()
    all_ = families(found, rooms, choices, view.blocks, dominators(view.kernel))
    done = {write.key for placed in given or () for write in placed.candidate.writes}
    stays = _variables(program, (one for one in all_ if given is None or _is_left(one, done)))
    _tie(program, stays)
    _fit(program, stays, rooms)
    deadline = time.monotonic() + limit_s
    while True:
        solution = solve(program, deadline - time.monotonic())
        chosen = _chosen(stays, solution)
        inside = [i for i in chosen if stays[i].family.bank is None]
        try:
            firsts = pack([stays[i].candidate for i in inside], rooms.entries)
            if firsts is not None:
                return _optimum(stays, chosen, dict(zip(inside, firsts, strict=True)), solution)
            together = [inside[j] for j in culprits([stays[i].candidate for i in inside], rooms.entries)]
        except UndecidedError:
            return Optimum((), (), 0.0, solution.bound, False)
        program.at_most(len(together) - 1, [(i, 1) for i in together])
        if time.monotonic() > deadline:
            return Optimum((), (), 0.0, solution.bound, False)


def _is_left(family: Family, done: Set[int]) -> bool:
    return family.bank is None and not any(write.key in done for write in family.stays[-1].writes)


def _variables(program: Packing, found: Iterable[Family]) -> list[_Stay]:
    stays: list[_Stay] = []
    for family in found:
        shorter = None
        before = 0.0
        for place, savings in enumerate(family.savings):
            variable = program.variable(savings - before)
            stays.append(_Stay(family, place, shorter))
            shorter, before = variable, savings
    return stays


def _tie(program: Packing, stays: Sequence[_Stay]) -> None:
    """A longer stay implies the shorter one; an access is part of one stay; a copy is of something in the ORF."""
    users: dict[tuple[str, int, bool], list[int]] = {}
    for i, stay in enumerate(stays):
        if stay.shorter is not None:
            program.at_most(0, [(i, 1), (stay.shorter, -1)])
        copies = stay.family.copies
        for row in stay.serves:
            users.setdefault(("read", row, copies), []).append(i)
        if stay.place == 0:
            if stay.candidate.fill:
                users.setdefault(("read", stay.candidate.fill.rows[0], copies), []).append(i)
            for write in stay.candidate.writes:
                users.setdefault(("write", write.key, copies), []).append(i)
    for members in dict.fromkeys(tuple(members) for members in users.values() if len(members) > 1):
        program.at_most(1, [(i, 1) for i in members])
    _tie_copies(program, stays)


def _tie_copies(program: Packing, stays: Sequence[_Stay]) -> None:
    """All reads of a copy must be served by one stay in the ORF, with its writes."""
    originals: dict[int, list[int]] = {}
    for i, stay in enumerate(stays):
        if stay.family.bank is None:
            for row in stay.serves:
                originals.setdefault(row, []).append(i)
    for i, stay in enumerate(stays):
        if stay.family.copies:
            last = max(stay.candidate.reads, key=lambda read: read.at)
            program.at_most(0, [(i, 1), *((j, -1) for j in originals.get(last.rows[0], ()) if _covers(stays[j], stay))])


def _covers(whole: _Stay, copy: _Stay) -> bool:
    reads = {read.rows[0] for read in whole.candidate.reads}
    writes = {write.key for write in whole.candidate.writes}
    copied = copy.candidate
    return reads.issuperset(r.rows[0] for r in copied.reads) and writes.issuperset(w.key for w in copied.writes)


def _fit(program: Packing, stays: Sequence[_Stay], rooms: Rooms) -> None:
    """At no moment more than fit.  That can only begin where a stay begins."""
    for bank in dict.fromkeys(stay.family.bank for stay in stays):
        members = [i for i, stay in enumerate(stays) if stay.family.bank == bank]
        room = rooms.entries if bank is None else 1
        moments = sorted({stays[i].first for i in members if stays[i].place == 0})
        for terms in _crowds(stays, members, moments):
            if _most(stays, terms) > room:
                program.at_most(room, [(i, stays[i].candidate.width) for i in terms])


def _crowds(stays: Sequence[_Stay], members: Sequence[int], moments: Sequence[int]) -> Iterable[list[int]]:
    """The variables that compete at each moment, but for moments that ask for no more than the next one."""
    waiting = sorted(members, key=lambda i: stays[i].first, reverse=True)
    here: list[int] = []
    last: list[int] = []
    for moment in moments:
        while waiting and stays[waiting[-1]].first <= moment:
            here.append(waiting.pop())
        here = [i for i in here if stays[i].candidate.span[1] >= moment]
        if last and not set(last) <= set(here):
            yield last
        last = list(here)
    if last:
        yield last


def _most(stays: Sequence[_Stay], terms: Sequence[int]) -> int:
    """No fewer entries than variables can ask for together: of those that serve the same read one at most does."""
    widest: dict[int, int] = {}
    for i in terms:
        read = stays[i].candidate.reads[-1].rows[0]
        widest[read] = max(widest.get(read, 0), stays[i].candidate.width)
    return sum(widest.values())


def _chosen(stays: Sequence[_Stay], solution: Solution) -> list[int]:
    """The stays that last no longer."""
    taken = set(solution.taken)
    return sorted(taken - {stays[i].shorter for i in taken})


def _optimum(stays: Sequence[_Stay], chosen: Sequence[int], firsts: dict[int, int], solution: Solution) -> Optimum:
    placed, copied = [], []
    for i in chosen:
        family, place = stays[i].family, stays[i].place
        candidate, savings = family.stays[place], family.savings[place]
        entry = firsts[i] if family.bank is None else family.bank
        if family.copies:
            copied.append(Copied(candidate, entry, savings))
        else:
            placed.append(Placed(candidate, family.level, entry, savings))
    return Optimum(tuple(placed), tuple(copied), solution.gain, solution.bound, solution.proven)
