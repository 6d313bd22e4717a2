"""The optimal placement of a strand by an integer program, the reference for the greedy allocation.

One binary variable per stay of a `Family` is 1 if the value stays at least that long, so the variables of a family are
non-increasing.  An access is part of at most one stay.  A result that may be in the ORF and the LRF at once can be part
of one stay in each: the LRF then serves reads that both could serve, and the MRF write is elided if every read is
served; further variables represent these two cases.  Entries are interchangeable, so capacity rows count stays at each
moment; rows that cannot bind are omitted, and the program decomposes into components.  Entries are assigned afterwards.
If multi-register values find no adjacent entries, a row that excludes the conflicting stays is added and the program is
solved again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from warpreg.analysis.dominators import dominators
from warpreg.analysis.strands import Strand
from warpreg.designs.parts.placement.allocate import Allocation
from warpreg.designs.parts.placement.candidates import MRF, Candidate
from warpreg.designs.parts.placement.copies import LrfCopy
from warpreg.designs.parts.placement.entry_packing import UndecidedError, minimal_conflict, pack
from warpreg.designs.parts.placement.instances import Accesses, KernelView, Read, Write, accesses_of
from warpreg.designs.parts.placement.integer_program import Packing, Solution, solve
from warpreg.designs.parts.placement.stays import ANY, Choices, Family, UpperLevels, families, spared_pj

LIMIT_S = 60.0
"""Time limit of the solver for one strand, in seconds."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best placement found for a strand; ``savings`` in pJ if each access is executed once.

    No placement saves more than ``bound``; ``proven`` if this one is optimal.  ``copied`` are writes that go to the LRF
    and the ORF, and the reads that the LRF serves.
    """

    placed: tuple[Allocation, ...]
    copied: tuple[LrfCopy, ...]
    savings: float
    bound: float
    proven: bool


@dataclass(frozen=True, slots=True)
class _Stay:
    """One stay of a family, and the variable of the next shorter stay."""

    family: Family
    place: int
    shorter: int | None

    @property
    def candidate(self) -> Candidate:
        return self.family.stays[self.place]

    @property
    def first(self) -> int:
        """First time at which it occupies entries after the end of the next shorter stay, in half instructions."""
        return self.candidate.span[0] if self.place == 0 else self.family.stays[self.place - 1].span[1] + 1

    @property
    def serves(self) -> list[int]:
        """The rows of the reads that it serves and the next shorter stay does not."""
        before = {read.rows[0] for read in self.family.stays[self.place - 1].reads} if self.place else set()
        return [read.rows[0] for read in self.candidate.reads if read.rows[0] not in before]


def optimum(
    view: KernelView,
    strand: Strand,
    upper: UpperLevels,
    choices: Choices = ANY,
    limit_s: float = LIMIT_S,
    given: Sequence[Allocation] | None = None,
) -> Optimum:
    """The optimal placement of a strand; not proven if the solver runs out of time.

    Results in ``given`` are fixed in the LRF and not counted; all others can then be placed in the ORF only.
    """
    accesses = accesses_of(view, strand)
    program = Packing()
    all_ = families(accesses, upper, choices, view.blocks, dominators(view.kernel))
    done = {write.key for placed in given or () for write in placed.candidate.writes}
    stays = _variables(program, (one for one in all_ if given is None or _is_left(one, done)))
    _add_ordering_rows(program, stays)
    spared = _add_sharing_terms(program, stays, accesses, upper)
    _add_capacity_rows(program, stays, upper)
    deadline = time.monotonic() + limit_s
    while True:
        solution = solve(program, deadline - time.monotonic())
        chosen = _chosen(stays, solution)
        inside = [i for i in chosen if stays[i].family.bank is None]
        try:
            firsts = pack([stays[i].candidate for i in inside], upper.entries)
            if firsts is not None:
                elided = {key for key, variable in spared.items() if variable in solution.taken}
                return _optimum(stays, chosen, dict(zip(inside, firsts, strict=True)), elided, upper, solution)
            together = [inside[j] for j in minimal_conflict([stays[i].candidate for i in inside], upper.entries)]
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


def _add_ordering_rows(program: Packing, stays: Sequence[_Stay]) -> None:
    """Add rows: a longer stay implies the shorter one, and an access is part of one stay (if shared, one per level)."""
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


def _add_sharing_terms(
    program: Packing, stays: Sequence[_Stay], accesses: Accesses, upper: UpperLevels
) -> dict[int, int]:
    """Add variables and rows that correct the savings of results that may be in two levels at once.

    A read that both levels could serve is counted for the LRF only; the MRF write is elided if every read is served.
    Returns the variables of elided writes, by key.
    """
    shared = {write.key for stay in stays if stay.family.shared for write in stay.candidate.writes}
    served: dict[int, tuple[list[int], list[int]]] = {}
    for i, stay in enumerate(stays):
        for row in stay.serves:
            served.setdefault(row, ([], []))[stay.family.bank is not None].append(i)
    reads = {read.rows[0]: read for read in accesses.reads}
    for row, (inside, banked) in served.items():
        if inside and banked and not shared.isdisjoint(reads[row].reaching):
            both = program.variable(-_pj(reads[row], upper.mrf.read, upper) + _pj(reads[row], upper.cost.read, upper))
            program.at_most(1, [*((i, 1) for i in (*inside, *banked)), (both, -1)])
    spared: dict[int, int] = {}
    for write in accesses.writes:
        rows = [read.rows[0] for read in accesses.reads if write.key in read.reaching]
        if write.key in shared and not write.needs_mrf and all(row in served for row in rows):
            spared[write.key] = variable = program.variable(spared_pj(write, upper))
            for row in rows:
                program.at_most(0, [(variable, 1), *((i, -1) for side in served[row] for i in side)])
    return spared


def _pj(access: Read | Write, pj: tuple[float, float], upper: UpperLevels) -> float:
    """Energy of an access at a level, in pJ."""
    return len(access.words) * pj[access.datapath] * upper.frequency.get(access.pc, 1.0)


def _add_capacity_rows(program: Packing, stays: Sequence[_Stay], upper: UpperLevels) -> None:
    """Add capacity rows; only moments at which a stay begins can be the first to exceed the capacity."""
    for bank in dict.fromkeys(stay.family.bank for stay in stays):
        members = [i for i, stay in enumerate(stays) if stay.family.bank == bank]
        capacity = upper.entries if bank is None else 1
        moments = sorted({stays[i].first for i in members if stays[i].place == 0})
        for terms in _competing(stays, members, moments):
            if _most_entries(stays, terms) > capacity:
                program.at_most(capacity, [(i, stays[i].candidate.width) for i in terms])


def _competing(stays: Sequence[_Stay], members: Sequence[int], moments: Sequence[int]) -> Iterable[list[int]]:
    """The variables that compete at each moment, without moments that the next one subsumes."""
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


def _most_entries(stays: Sequence[_Stay], terms: Sequence[int]) -> int:
    """Upper bound of the entries that the variables can occupy: at most one of those that serve the same read is 1."""
    widest: dict[int, int] = {}
    for i in terms:
        read = stays[i].candidate.reads[-1].rows[0]
        widest[read] = max(widest.get(read, 0), stays[i].candidate.width)
    return sum(widest.values())


def _chosen(stays: Sequence[_Stay], solution: Solution) -> list[int]:
    """The longest chosen stay of each family."""
    taken = {i for i in solution.taken if i < len(stays)}
    return sorted(taken - {stays[i].shorter for i in taken})


def _optimum(
    stays: Sequence[_Stay],
    chosen: Sequence[int],
    firsts: dict[int, int],
    elided: Set[int],
    upper: UpperLevels,
    solution: Solution,
) -> Optimum:
    """The stays as placements, those of the LRF last: the LRF serves reads that both levels hold."""
    placed: list[Allocation] = []
    banked: list[Allocation] = []
    copied: list[LrfCopy] = []
    inside = [stays[i].candidate for i in chosen if stays[i].family.bank is None]
    above = {write.key for candidate in inside for write in candidate.writes}
    for i in chosen:
        family = stays[i].family
        candidate = _with_mrf_writes(stays[i].candidate, elided) if family.shared else stays[i].candidate
        if family.bank is None:
            placed.append(
                Allocation(
                    candidate, family.level, firsts[i], candidate.savings(upper.cost, upper.mrf, upper.frequency)
                )
            )
            continue
        assert upper.lrf_cost is not None
        besides = tuple(write for write in candidate.writes if family.shared and write.key in above)
        alone = tuple(write for write in candidate.writes if write not in besides)
        if besides:
            copied.append(LrfCopy(replace(candidate, writes=besides), family.bank, 0.0))
        if alone:
            part = replace(candidate, writes=alone)
            banked.append(
                Allocation(part, family.level, family.bank, part.savings(upper.lrf_cost, upper.mrf, upper.frequency))
            )
    return Optimum((*placed, *banked), tuple(copied), solution.gain, solution.bound, solution.proven)


def _with_mrf_writes(stay: Candidate, elided: Set[int]) -> Candidate:
    """The stay, with ``needs_mrf`` set for writes that are not elided."""
    return replace(stay, writes=tuple(replace(write, needs_mrf=write.key not in elided) for write in stay.writes))


def saved_pj(placed: Iterable[Allocation], copied: Iterable[LrfCopy], upper: UpperLevels) -> float:
    """pJ that a placement saves, counted access by access with the frequencies of ``upper``."""
    costs = {MRF: upper.mrf, upper.level: upper.cost, upper.lrf_level: upper.lrf_cost or upper.cost}
    at: dict[int, tuple[Read, int]] = {}
    written: dict[tuple[int, int], Write] = {}
    filled = 0.0
    parts = [(one.candidate, one.level) for one in placed] + [(one.candidate, upper.lrf_level) for one in copied]
    for candidate, level in parts:
        at |= {read.rows[0]: (read, level) for read in candidate.reads}
        written |= {(write.key, level): write for write in candidate.writes}
        filled += _pj(candidate.fill, costs[level].write, upper) if candidate.fill else 0.0
    read = sum(_pj(one, upper.mrf.read, upper) - _pj(one, costs[level].read, upper) for one, level in at.values())
    written_pj = sum(_pj(write, costs[level].write, upper) for (_, level), write in written.items())
    spared = sum(spared_pj(write, upper) for write in {write.key: write for write in written.values()}.values())
    return read - written_pj + spared - filled
