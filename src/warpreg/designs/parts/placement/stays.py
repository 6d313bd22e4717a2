"""The search space of the exact placement: stays of values in the levels above the main register file.

A *stay* is a `Candidate`: a value occupies entries from a write or a fill to one of its reads.  A `Family` is the list
of stays with the same begin, in ascending order of their last read.  Choices beyond those of the greedy allocation:

- ``begins``: a result may stay from any of its writes on, some of its registers may stay without the others, and writes
  with common reads may be separated if those reads use the main register file; any unguarded read may fetch an operand
  for later reads that it dominates;
- ``returns``: a value of the strand that was dropped, or never placed, may be fetched again like an operand;
- ``lrf``: the last result file may serve some of a value's reads, the main register file or the ORF the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpreg.analysis.dominators import DominatorTree
from warpreg.designs.interface.plan import PRIVATE
from warpreg.designs.parts.placement.candidates import Candidate, operands, precedes, results
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.instances import Accesses, Read, Write
from warpreg.designs.parts.placement.lrf import BANKS, Lrf, bank_of


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices that are allowed beyond the ranges of the greedy allocation."""

    begins: bool = True
    returns: bool = True
    lrf: bool = True


OWN = Choices(begins=False, returns=False, lrf=False)
"""The ranges of the greedy allocation of LRF and ORF."""
ANY = Choices()


@dataclass(frozen=True, slots=True)
class UpperLevels:
    """The levels above the MRF."""

    level: int
    """The one with entries."""
    entries: int
    """Of this level."""
    cost: LevelCost
    """Of this level."""
    mrf: LevelCost
    """Cost of the backing store."""
    operands: bool = True
    live_out: bool = True
    """Off: no value may be in both."""
    several_writes: bool = True
    """Off: a result has one write."""
    lrf: Lrf = "none"
    """The banks of an LRF."""
    lrf_level: int = 2
    lrf_cost: LevelCost | None = None
    frequency: Mapping[int, float] = field(default_factory=dict)
    """Executions of an instruction per execution of its strand, by pc; by default 1."""


@dataclass(frozen=True, slots=True)
class Family:
    """Stays in a level with a common begin, each with one read more than the one before; ``bank`` of the LRF, None for
    interchangeable entries.  ``savings`` of each in pJ.  ``shared``: the value may be in entries and in a bank at once,
    so MRF writes are decided elsewhere and not part of the savings."""

    stays: tuple[Candidate, ...]
    savings: tuple[float, ...]
    level: int
    bank: int | None = None
    shared: bool = False


def families(
    accesses: Accesses, upper: UpperLevels, choices: Choices, blocks: Sequence[int], tree: DominatorTree
) -> Iterator[Family]:
    """All families of a strand with a stay that saves energy; ``blocks`` by pc, ``tree`` the kernel's dominators."""
    groups = [one for one in results(accesses) if upper.several_writes or len(one.writes) == 1]
    for group in groups:
        stays = _parts(group) if choices.begins else _shortened(group)
        shared = group if upper.lrf_cost is not None and choices.lrf and group.width == 1 else None
        yield from _in_entries(stays, upper, shared)
        yield from _in_banks(group, upper, choices)
    if not upper.operands or not upper.live_out:
        return
    if choices.begins:
        yield from _in_entries(_windows(accesses, choices.returns, blocks, tree), upper)
    else:
        kept = operands(accesses, blocks, tree)
        yield from _in_entries((stay for operand in kept for stay in _shortened(operand)), upper)


def _shortened(candidate: Candidate) -> Iterator[Candidate]:
    shorter: Candidate | None = candidate
    while shorter is not None:
        yield shorter
        shorter = shorter.shortened()


def _parts(group: Candidate) -> Iterator[Candidate]:
    """The parts of a result that hold some of its registers, from one of its writes on and up to one of its reads."""
    seen: set[tuple[int, ...]] = set()
    for words in _word_sets((*group.reads, *group.writes)):
        within = [read for read in group.reads if words.issuperset(read.words)]
        for first in sorted({write.at for write in group.writes}):
            begun = {write.key for write in group.writes if write.at >= first}
            able = [read for read in within if read.reaching <= begun]
            for last in sorted({read.at for read in able}):
                for part in served(group, [read for read in able if read.at <= last]):
                    name = tuple(read.rows[0] for read in part.reads)
                    if name not in seen and words.issuperset(part.words):
                        seen.add(name)
                        yield part


def _word_sets(accesses: Iterable[Read | Write]) -> list[frozenset[int]]:
    """All unions of the registers of some accesses, the widest first."""
    unions: set[frozenset[int]] = set()
    for words in {frozenset(access.words) for access in accesses}:
        unions |= {words, *(words | union for union in unions)}
    return sorted(unions, key=lambda union: (-len(union), sorted(union)))


def served(group: Candidate, reads: Sequence[Read]) -> Iterator[Candidate]:
    """The parts of a result of which only some reads are served: writes without a common read are separate, and writes
    that reach other reads need the main register file."""
    kept = {read.rows[0] for read in reads}
    unserved = {key for read in group.reads if read.rows[0] not in kept for key in read.reaching}
    writes = [replace(write, needs_mrf=write.needs_mrf or write.key in unserved) for write in group.writes]
    return results(Accesses(tuple(writes), tuple(reads), group.loops))


def _windows(accesses: Accesses, returns: bool, blocks: Sequence[int], tree: DominatorTree) -> Iterator[Candidate]:
    """Fetches of a register by any read, for all later reads of the same value.

    In a strand without loops, no write comes between two reads of which one dominates the other and which the same
    writes reach.
    """
    values: dict[tuple[tuple[int, ...], frozenset[int]], list[Read]] = {}
    for read in accesses.reads:
        if read.is_outside or (returns and not accesses.loops):
            values.setdefault((read.words, read.reaching), []).append(read)
    for reads in values.values():
        fills = {read.at: read for read in reversed(reads) if not read.guarded}
        for fill in fills.values():
            follow = [read for read in reads if read.at > fill.at and precedes(fill, read, blocks, tree)]
            if follow:
                yield from _shortened(Candidate(tuple(follow), fill=fill, loops=accesses.loops))


def _in_entries(stays: Iterable[Candidate], upper: UpperLevels, shared: Candidate | None = None) -> Iterator[Family]:
    fitting = (stay for stay in stays if stay.width <= upper.entries and _allowed(stay, upper))
    yield from _families(fitting, upper, upper.level, None, upper.cost, shared)


def _in_banks(group: Candidate, upper: UpperLevels, choices: Choices) -> Iterator[Family]:
    """Stays in the LRF: whole results, or some of the reads that a bank can serve."""
    if upper.lrf_cost is None:
        return
    if not choices.lrf:
        bank = bank_of(group, upper.lrf)
        if bank is not None:
            yield from _families([group], upper, upper.lrf_level, bank, upper.lrf_cost)
        return
    if group.width > 1:
        return
    for bank in range(BANKS[upper.lrf]):
        stays = list(_served_by(bank, group, upper.lrf))
        yield from _families(stays, upper, upper.lrf_level, bank, upper.lrf_cost, group)


def _served_by(bank: int, group: Candidate, lrf: Lrf) -> Iterator[Candidate]:
    """Prefixes of the reads of a result that a bank can serve, each longer by one reading instruction."""
    able = [r for r in group.reads if r.datapath == PRIVATE and (lrf == "unified" or r.slot == bank)]
    seen: set[tuple[int, ...]] = set()
    for last in sorted({read.at for read in able}):
        for part in served(group, [read for read in able if read.at <= last]):
            name = tuple(read.rows[0] for read in part.reads)
            if name not in seen and all(write.datapath == PRIVATE for write in part.writes):
                seen.add(name)
                yield part


def _allowed(stay: Candidate, upper: UpperLevels) -> bool:
    return upper.live_out or not any(write.needs_mrf for write in stay.writes)


def _families(
    stays: Iterable[Candidate],
    upper: UpperLevels,
    level: int,
    bank: int | None,
    cost: LevelCost,
    shared: Candidate | None = None,
) -> Iterator[Family]:
    """Stays grouped by their begin, up to the one that saves most; none if nothing is saved.  For a ``shared`` result,
    all stays if they save energy including the MRF writes that may be elided."""
    alike: dict[tuple[object, ...], list[Candidate]] = {}
    for stay in stays:
        begin = stay.fill.rows if stay.fill else tuple(write.key for write in stay.writes)
        alike.setdefault((begin, stay.words, stay.span[0]), []).append(stay if shared is None else in_mrf_too(stay))
    spared = 0.0 if shared is None else sum(spared_pj(write, upper) for write in shared.writes)
    for members in alike.values():
        members.sort(key=lambda stay: len(stay.reads))
        savings = [stay.savings(cost, upper.mrf, upper.frequency) for stay in members]
        best = max(range(len(savings)), key=savings.__getitem__)
        end = best + 1 if shared is None else len(members)
        if savings[best] + spared > 0:
            yield Family(tuple(members[:end]), tuple(savings[:end]), level, bank, shared is not None)


def in_mrf_too(stay: Candidate) -> Candidate:
    """The stay with all its writes going to the main register file too."""
    return replace(stay, writes=tuple(replace(write, needs_mrf=True) for write in stay.writes))


def spared_pj(write: Write, upper: UpperLevels) -> float:
    """pJ saved by eliding the write to the main register file; 0 if the value is needed there."""
    if write.needs_mrf:
        return 0.0
    return len(write.words) * upper.mrf.write[write.datapath] * upper.frequency.get(write.pc, 1.0)
