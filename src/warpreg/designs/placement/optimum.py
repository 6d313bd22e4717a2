"""The best possible placement of a strand, by an integer program: what the greedy allocation is held against.

A variable says of each stay in a `Family` that it lasts at least that long, so those of a family descend.  An access
takes part in one stay at most; of a result that may be in the ORF and the LRF at once, in one of each: then the LRF
serves what both could, and the main register file is spared the write if one or the other serves every read, which
further variables say.  Entries are alike, so at each moment only their number counts; moments at which too
few values could meet are left out, and the program falls into parts.  Which entry each value gets is found afterwards;
should values of several registers find no neighbours, the program learns which of them cannot be together, and is
solved again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from warpreg.analysis.dominators import dominators
from warpreg.analysis.strands import Strand
from warpreg.designs.placement.allocate import Placed
from warpreg.designs.placement.candidates import MRF, Candidate
from warpreg.designs.placement.copies import Copied
from warpreg.designs.placement.instances import Accesses, KernelView, Read, Write, accesses_of
from warpreg.designs.placement.integer import Packing, Solution, solve
from warpreg.designs.placement.packing import UndecidedError, culprits, pack
from warpreg.designs.placement.stays import ANY, Choices, Family, Rooms, families, spared_pj

LIMIT_S = 60.0
"""Seconds that the solver has for one strand."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best placement found of a strand: ``savings`` in pJ for each time that each of its accesses is executed once.

    No placement saves more than ``bound``, and ``proven`` says that this one does.  ``copied`` are writes to the LRF
    besides the ORF, and the reads that it serves, whether the ORF could or not.
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
    spared = _share(program, stays, found, rooms)
    _fit(program, stays, rooms)
    deadline = time.monotonic() + limit_s
    while True:
        solution = solve(program, deadline - time.monotonic())
        chosen = _chosen(stays, solution)
        inside = [i for i in chosen if stays[i].family.bank is None]
        try:
            firsts = pack([stays[i].candidate for i in inside], rooms.entries)
            if firsts is not None:
                elided = {key for key, variable in spared.items() if variable in solution.taken}
                return _optimum(stays, chosen, dict(zip(inside, firsts, strict=True)), elided, rooms, solution)
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
    """A longer stay implies the shorter one; an access is part of one stay, or of one in entries and one in a bank."""
    users: dict[tuple[str, int, bool], list[int]] = {}
    apart = any(stay.family.shared for stay in stays)
    for i, stay in enumerate(stays):
        if stay.shorter is not None:
            program.at_most(0, [(i, 1), (stay.shorter, -1)])
        side = apart and stay.family.bank is not None
        for row in stay.serves:
            users.setdefault(("read", row, side), []).append(i)
        if stay.place == 0:
            if stay.candidate.fill:
                for either in (False, True):
                    users.setdefault(("read", stay.candidate.fill.rows[0], either), []).append(i)
            for write in stay.candidate.writes:
                users.setdefault(("write", write.key, side), []).append(i)
    for members in dict.fromkeys(tuple(members) for members in users.values() if len(members) > 1):
        program.at_most(1, [(i, 1) for i in members])


def _share(program: Packing, stays: Sequence[_Stay], found: Accesses, rooms: Rooms) -> dict[int, int]:
    """What results that may be in two levels at once save or lose beside the savings of their stays: a read that both
    could serve is one of the LRF; a write to the main register file is spared if every read is served.  Returns the
    variables that say so of writes, by key.
    """
    shared = {write.key for stay in stays if stay.family.shared for write in stay.candidate.writes}
    served: dict[int, tuple[list[int], list[int]]] = {}
    for i, stay in enumerate(stays):
        for row in stay.serves:
            served.setdefault(row, ([], []))[stay.family.bank is not None].append(i)
    reads = {read.rows[0]: read for read in found.reads}
    for row, (inside, banked) in served.items():
        if inside and banked and not shared.isdisjoint(reads[row].reaching):
            both = program.variable(-_pj(reads[row], rooms.mrf.read, rooms) + _pj(reads[row], rooms.cost.read, rooms))
            program.at_most(1, [*((i, 1) for i in (*inside, *banked)), (both, -1)])
    spared: dict[int, int] = {}
    for write in found.writes:
        rows = [read.rows[0] for read in found.reads if write.key in read.reaching]
        if write.key in shared and not write.needs_mrf and all(row in served for row in rows):
            spared[write.key] = variable = program.variable(spared_pj(write, rooms))
            for row in rows:
                program.at_most(0, [(variable, 1), *((i, -1) for side in served[row] for i in side)])
    return spared


def _pj(access: Read | Write, pj: tuple[float, float], rooms: Rooms) -> float:
    """What an access costs at a level."""
    return len(access.words) * pj[access.datapath] * rooms.often.get(access.pc, 1.0)


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
    taken = {i for i in solution.taken if i < len(stays)}
    return sorted(taken - {stays[i].shorter for i in taken})


def _optimum(
    stays: Sequence[_Stay],
    chosen: Sequence[int],
    firsts: dict[int, int],
    elided: Set[int],
    rooms: Rooms,
    solution: Solution,
) -> Optimum:
    """The stays as placements: those in entries first, for where both serve a read the LRF does."""
    placed: list[Placed] = []
    banked: list[Placed] = []
    copied: list[Copied] = []
    inside = [stays[i].candidate for i in chosen if stays[i].family.bank is None]
    above = {write.key for candidate in inside for write in candidate.writes}
    for i in chosen:
        family = stays[i].family
        candidate = _known(stays[i].candidate, elided) if family.shared else stays[i].candidate
        if family.bank is None:
            placed.append(
                Placed(candidate, family.level, firsts[i], candidate.savings(rooms.cost, rooms.mrf, rooms.often))
            )
            continue
        assert rooms.lrf_cost is not None
        besides = tuple(write for write in candidate.writes if family.shared and write.key in above)
        alone = tuple(write for write in candidate.writes if write not in besides)
        if besides:
            copied.append(Copied(replace(candidate, writes=besides), family.bank, 0.0))
        if alone:
            part = replace(candidate, writes=alone)
            banked.append(Placed(part, family.level, family.bank, part.savings(rooms.lrf_cost, rooms.mrf, rooms.often)))
    return Optimum((*placed, *banked), tuple(copied), solution.gain, solution.bound, solution.proven)


def _known(stay: Candidate, elided: Set[int]) -> Candidate:
    """The stay, with which of its writes go to the main register file too."""
    return replace(stay, writes=tuple(replace(write, needs_mrf=write.key not in elided) for write in stay.writes))


def saved_pj(placed: Iterable[Placed], copied: Iterable[Copied], rooms: Rooms) -> float:
    """pJ that a placement saves, access by access, each executed as ``rooms.often`` says."""
    costs = {MRF: rooms.mrf, rooms.level: rooms.cost, rooms.lrf_level: rooms.lrf_cost or rooms.cost}
    at: dict[int, tuple[Read, int]] = {}
    written: dict[tuple[int, int], Write] = {}
    filled = 0.0
    parts = [(one.candidate, one.level) for one in placed] + [(one.candidate, rooms.lrf_level) for one in copied]
    for candidate, level in parts:
        at |= {read.rows[0]: (read, level) for read in candidate.reads}
        written |= {(write.key, level): write for write in candidate.writes}
        filled += _pj(candidate.fill, costs[level].write, rooms) if candidate.fill else 0.0
    read = sum(_pj(one, rooms.mrf.read, rooms) - _pj(one, costs[level].read, rooms) for one, level in at.values())
    spent = sum(_pj(write, costs[level].write, rooms) for (_, level), write in written.items())
    spared = sum(spared_pj(write, rooms) for write in {write.key: write for write in written.values()}.values())
    return read - spent + spared - filled
