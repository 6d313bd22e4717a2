"""The best possible placement of a strand, by an integer program: what the greedy allocation is held against.

The rules are those of the greedy allocation: a value stays once, from where it is written to one of its reads; an
operand from before the strand stays from any unguarded read to a later one that this read dominates; the LRF takes
whole results only.  A binary variable stands for each value with each stay in each level that saves energy.  Entries
are alike, so at each moment only their number counts; which entry each value gets is found afterwards, by giving the
lowest free ones in the order of time.  That fails only if values of several registers find no neighbours, and then the
program is solved once more with a variable for each first entry.  The solver is HiGHS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from warpreg.analysis.dominators import DominatorTree, dominators
from warpreg.analysis.strands import Strand
from warpreg.designs.placement.allocate import Entries, Placed
from warpreg.designs.placement.candidates import MRF, Candidate, precedes
from warpreg.designs.placement.hierarchy import LRF, ORF, Options, candidates
from warpreg.designs.placement.instances import KernelView
from warpreg.designs.placement.lrf import bank_of

LIMIT_S = 10.0
"""Time that the solver has for one strand."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best placement found of a strand: ``savings`` in pJ for each time that each of its accesses is executed once.

    No placement saves more than ``bound``, and ``proven`` says that this one does.
    """

    placed: tuple[Placed, ...]
    savings: float
    bound: float
    proven: bool


@dataclass(frozen=True, slots=True)
class _Stay:
    """One variable: candidate number ``value`` as ``candidate``, in an ORF entry (None: any) or an LRF bank."""

    value: int
    candidate: Candidate
    level: int
    entry: int | None
    savings: float


def optimum(view: KernelView, strand: Strand, options: Options, limit_s: float = LIMIT_S) -> Optimum:
    """The best placement of a strand; not proven if the solver runs out of time."""
    stays = list(_stays(view, strand, options))
    if not stays:
        return Optimum((), 0.0, 0.0, True)
    chosen, bound, proven = _solve(stays, options.entries, limit_s)
    placed = _with_entries(chosen, options.entries)
    if placed is None:
        stays = [one for stay in stays for one in _in_each_entry(stay, options.entries)]
        chosen, bound, proven = _solve(stays, options.entries, limit_s)
        placed = [_placed(stay) for stay in chosen]
    savings = sum(stay.savings for stay in chosen)
    return Optimum(tuple(placed), savings, max(bound, savings), proven)


def _stays(view: KernelView, strand: Strand, options: Options) -> Iterator[_Stay]:
    """Every stay that saves energy."""
    mrf = options.costs[MRF]
    tree = dominators(view.kernel)
    for value, candidate in enumerate(candidates(view, strand, options)):
        for shorter in _ranges(candidate, view.blocks, tree):
            savings = shorter.savings(options.costs[ORF], mrf)
            if savings > 0 and shorter.width <= options.entries:
                yield _Stay(value, shorter, ORF, None, savings)
        bank = bank_of(candidate, options.lrf)
        if bank is not None and (savings := candidate.savings(options.costs[LRF], mrf)) > 0:
            yield _Stay(value, candidate, LRF, bank, savings)


def _ranges(candidate: Candidate, blocks: Sequence[int], tree: DominatorTree) -> Iterator[Candidate]:
    """A candidate, all that is left of it when it is shortened, and for an operand all windows that begin later."""
    shorter: Candidate | None = candidate
    while shorter is not None:
        yield shorter
        shorter = shorter.shortened()
    if candidate.fill is None:
        return
    for fill in candidate.reads:
        follow = tuple(r for r in candidate.reads if r.at > fill.at and precedes(fill, r, blocks, tree))
        if follow and not fill.guarded:
            shorter = replace(candidate, fill=fill, reads=follow)
            while shorter is not None:
                yield shorter
                shorter = shorter.shortened()


def _in_each_entry(stay: _Stay, entries: int) -> Iterator[_Stay]:
    if stay.entry is not None:
        yield stay
        return
    for entry in range(entries - stay.candidate.width + 1):
        yield replace(stay, entry=entry)


def _solve(stays: Sequence[_Stay], entries: int, limit_s: float) -> tuple[list[_Stay], float, bool]:
    """The chosen stays, a bound of what any choice saves, and whether the choice reaches it."""
    rows: list[tuple[int, int, float]] = []
    most: list[float] = []
    for room, members in _rooms(stays):
        capacity = entries if room == (ORF, None) else 1
        for begin in sorted({stays[i].candidate.span[0] for i in members}):
            inside = [i for i in members if stays[i].candidate.span[0] <= begin <= stays[i].candidate.span[1]]
            rows += [(len(most), i, stays[i].candidate.width if capacity == entries else 1) for i in inside]
            most.append(capacity)
    for members in _by_value(stays).values():
        rows += [(len(most), i, 1) for i in members]
        most.append(1)
    row, column, factor = (np.array(numbers) for numbers in zip(*rows, strict=True))
    matrix = coo_array((factor.astype(float), (row, column)), shape=(len(most), len(stays))).tocsr()
    found = milp(
        c=-np.array([stay.savings for stay in stays]),
        constraints=LinearConstraint(matrix, ub=np.array(most, float)),
        integrality=np.ones(len(stays)),
        bounds=Bounds(0, 1),
        options={"time_limit": limit_s, "mip_rel_gap": 0.0},
    )
    bound = -found.mip_dual_bound if found.mip_dual_bound is not None else sum(stay.savings for stay in stays)
    chosen = [] if found.x is None else [stay for stay, taken in zip(stays, found.x, strict=True) if taken > 0.5]
    return chosen, float(bound), found.status == 0


def _rooms(stays: Sequence[_Stay]) -> Iterator[tuple[tuple[int, int | None], list[int]]]:
    """The variables that compete for each ORF entry (or for all, where none is named) and each LRF bank."""
    rooms: dict[tuple[int, int | None], list[int]] = {}
    for i, stay in enumerate(stays):
        width = stay.candidate.width if stay.entry is not None else 1
        for part in range(width):
            rooms.setdefault((stay.level, None if stay.entry is None else stay.entry + part), []).append(i)
    yield from rooms.items()


def _by_value(stays: Sequence[_Stay]) -> Mapping[int, list[int]]:
    values: dict[int, list[int]] = {}
    for i, stay in enumerate(stays):
        values.setdefault(stay.value, []).append(i)
    return values


def _with_entries(chosen: Sequence[_Stay], entries: int) -> list[Placed] | None:
    """The chosen stays with their entries, in the order of time; None if some find no neighbouring ones."""
    free = Entries(entries)
    placed = []
    for stay in sorted(chosen, key=lambda stay: stay.candidate.span):
        entry = stay.entry if stay.level == LRF else free.fit(stay.candidate)
        if entry is None:
            return None
        if stay.level == ORF:
            free.take(stay.candidate, entry)
        placed.append(Placed(stay.candidate, stay.level, entry, stay.savings))
    return placed


def _placed(stay: _Stay) -> Placed:
    assert stay.entry is not None
    return Placed(stay.candidate, stay.level, stay.entry, stay.savings)
