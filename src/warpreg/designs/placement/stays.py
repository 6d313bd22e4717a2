"""What an exact placement may choose from: stays of values in the levels above the main register file.

A *stay* is a `Candidate`: a value is in some entries from a write or a fill to one of its reads.  Stays that begin
alike and differ in their last read alone are a `Family`, ascending.  Choices beyond those of the greedy allocation:

- ``begins``: a result may stay from any of its writes on, and writes with reads in common part where those reads go to
  the main register file; an operand may be fetched by any unguarded read for later ones that this read dominates;
- ``returns``: a value of the strand that has left, or never was above, may be fetched again like an operand;
- ``lrf``: the last result file may serve some of a value's reads, the main register file or the ORF the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpreg.analysis.dominators import DominatorTree
from warpreg.designs.interface.plan import PRIVATE
from warpreg.designs.placement.candidates import Candidate, operands, precedes, results
from warpreg.designs.placement.costs import LevelCost
from warpreg.designs.placement.instances import Accesses, Read, Write
from warpreg.designs.placement.lrf import BANKS, Lrf, bank_of


@dataclass(frozen=True, slots=True)
class Choices:
    """What is allowed beyond the ranges that the greedy allocation tries."""

    begins: bool = True
    returns: bool = True
    lrf: bool = True


OWN = Choices(begins=False, returns=False, lrf=False)
"""The ranges of the greedy allocation of LRF and ORF."""
ANY = Choices()


@dataclass(frozen=True, slots=True)
class Rooms:
    """The levels above: ``entries`` of ``level`` at ``cost``, and the banks of an LRF.  ``mrf`` is the cost of what
    backs them; without ``live_out`` nothing may be in both, without ``several_writes`` a result has one write.
    ``often`` says by pc how often an instruction is executed each time that its strand is, where that is not once."""

    level: int
    entries: int
    cost: LevelCost
    mrf: LevelCost
    operands: bool = True
    live_out: bool = True
    several_writes: bool = True
    lrf: Lrf = "none"
    lrf_level: int = 2
    lrf_cost: LevelCost | None = None
    often: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """Stays with a common begin, each with one read more than the one before, in a level; ``bank`` of the LRF, None for
    entries that are all alike.  ``savings`` in pJ of each.  ``shared``: the value may be in entries and in a bank at
    once, so whether its writes go to the main register file too is not decided here, and not part of the savings."""

    stays: tuple[Candidate, ...]
    savings: tuple[float, ...]
    level: int
    bank: int | None = None
    shared: bool = False


def families(
    found: Accesses, rooms: Rooms, choices: Choices, blocks: Sequence[int], tree: DominatorTree
) -> Iterator[Family]:
    """All families of a strand with a stay that saves energy; ``blocks`` by pc, ``tree`` the kernel's dominators."""
    groups = [one for one in results(found) if rooms.several_writes or len(one.writes) == 1]
    for group in groups:
        stays = _parts(group) if choices.begins else _shortened(group)
        shared = group if rooms.lrf_cost is not None and choices.lrf and group.width == 1 else None
        yield from _in_entries(stays, rooms, shared)
        yield from _in_banks(group, rooms, choices)
    if not rooms.operands or not rooms.live_out:
        return
    if choices.begins:
        yield from _in_entries(_windows(found, choices.returns, blocks, tree), rooms)
    else:
        kept = operands(found, blocks, tree)
        yield from _in_entries((stay for operand in kept for stay in _shortened(operand)), rooms)


def _shortened(candidate: Candidate) -> Iterator[Candidate]:
    shorter: Candidate | None = candidate
    while shorter is not None:
        yield shorter
        shorter = shorter.shortened()


def _parts(group: Candidate) -> Iterator[Candidate]:
    """What is left of a result from one of its writes on and to one of its reads, where it falls into parts each part
    alone."""
    seen: set[tuple[int, ...]] = set()
    for first in sorted({write.at for write in group.writes}):
        begun = {write.key for write in group.writes if write.at >= first}
        able = [read for read in group.reads if read.reaching <= begun]
        for last in sorted({read.at for read in able}):
            for part in served(group, [read for read in able if read.at <= last]):
                name = tuple(read.rows[0] for read in part.reads)
                if name not in seen:
                    seen.add(name)
                    yield part


def served(group: Candidate, reads: Sequence[Read]) -> Iterator[Candidate]:
    """The parts of a result of which only some reads are served: writes without a common read need not stay together,
    and those that other reads want are needed in the main register file."""
    kept = {read.rows[0] for read in reads}
    wanted = {key for read in group.reads if read.rows[0] not in kept for key in read.reaching}
    writes = [replace(write, needs_mrf=write.needs_mrf or write.key in wanted) for write in group.writes]
    return results(Accesses(tuple(writes), tuple(reads), group.loops))


def _windows(found: Accesses, returns: bool, blocks: Sequence[int], tree: DominatorTree) -> Iterator[Candidate]:
    """Fetches of a register by any read, for all later reads that find the same value in it.

    In a strand without loops, no write comes between two reads of which one dominates the other and which the same
    writes reach.
    """
    values: dict[tuple[tuple[int, ...], frozenset[int]], list[Read]] = {}
    for read in found.reads:
        if read.is_outside or (returns and not found.loops):
            values.setdefault((read.words, read.reaching), []).append(read)
    for reads in values.values():
        fills = {read.at: read for read in reversed(reads) if not read.guarded}
        for fill in fills.values():
            follow = [read for read in reads if read.at > fill.at and precedes(fill, read, blocks, tree)]
            if follow:
                yield from _shortened(Candidate(tuple(follow), fill=fill, loops=found.loops))


def _in_entries(stays: Iterable[Candidate], rooms: Rooms, shared: Candidate | None = None) -> Iterator[Family]:
    fitting = (stay for stay in stays if stay.width <= rooms.entries and _allowed(stay, rooms))
    yield from _families(fitting, rooms, rooms.level, None, rooms.cost, shared)


def _in_banks(group: Candidate, rooms: Rooms, choices: Choices) -> Iterator[Family]:
    """Stays in the LRF: whole results, or some of the reads that a bank can serve."""
    if rooms.lrf_cost is None:
        return
    if not choices.lrf:
        bank = bank_of(group, rooms.lrf)
        if bank is not None:
            yield from _families([group], rooms, rooms.lrf_level, bank, rooms.lrf_cost)
        return
    if group.width > 1:
        return
    for bank in range(BANKS[rooms.lrf]):
        stays = list(_served_by(bank, group, rooms.lrf))
        yield from _families(stays, rooms, rooms.lrf_level, bank, rooms.lrf_cost, group)


def _served_by(bank: int, group: Candidate, lrf: Lrf) -> Iterator[Candidate]:
    """The first reads of a result that a bank can serve, and one more and one more."""
    able = [r for r in group.reads if r.datapath == PRIVATE and (lrf == "unified" or r.slot == bank)]
    seen: set[tuple[int, ...]] = set()
    for last in sorted({read.at for read in able}):
        for part in served(group, [read for read in able if read.at <= last]):
            name = tuple(read.rows[0] for read in part.reads)
            if name not in seen and all(write.datapath == PRIVATE for write in part.writes):
                seen.add(name)
                yield part


def _allowed(stay: Candidate, rooms: Rooms) -> bool:
    return rooms.live_out or not any(write.needs_mrf for write in stay.writes)


def _families(
    stays: Iterable[Candidate],
    rooms: Rooms,
    level: int,
    bank: int | None,
    cost: LevelCost,
    shared: Candidate | None = None,
) -> Iterator[Family]:
    """Stays by what they begin with, up to the one that saves most; none where nothing is saved.  Of a ``shared``
    result all, if they save with the writes that it may spare."""
    alike: dict[tuple[object, ...], list[Candidate]] = {}
    for stay in stays:
        begin = stay.fill.rows if stay.fill else tuple(write.key for write in stay.writes)
        alike.setdefault((begin, stay.words, stay.span[0]), []).append(stay if shared is None else in_mrf_too(stay))
    spared = 0.0 if shared is None else sum(spared_pj(write, rooms) for write in shared.writes)
    for members in alike.values():
        members.sort(key=lambda stay: len(stay.reads))
        savings = [stay.savings(cost, rooms.mrf, rooms.often) for stay in members]
        best = max(range(len(savings)), key=savings.__getitem__)
        end = best + 1 if shared is None else len(members)
        if savings[best] + spared > 0:
            yield Family(tuple(members[:end]), tuple(savings[:end]), level, bank, shared is not None)


def in_mrf_too(stay: Candidate) -> Candidate:
    """The same if its writes go to the main register file as well."""
    return replace(stay, writes=tuple(replace(write, needs_mrf=True) for write in stay.writes))


def spared_pj(write: Write, rooms: Rooms) -> float:
    """What it saves to leave out the write to the main register file, where nothing but the strand needs that."""
    if write.needs_mrf:
        return 0.0
    return len(write.words) * rooms.mrf.write[write.datapath] * rooms.often.get(write.pc, 1.0)
