"""Values that a strand could hold above the main register file, and the energy each would save (sections 4.2 to 4.5).

A candidate is a *result* (writes that reach common reads, so they must use one place: Figure 10 (c)) or an *operand*
from before the strand, which its first read fetches for later reads (section 4.4).  It may be wider than a register:
registers that one instruction accesses as one operand occupy adjacent entries (section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from warpreg.analysis.dominators import DominatorTree
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.instances import Accesses, Read, Write

MRF = 0
ONCE: Mapping[int, float] = {}


@dataclass(frozen=True)
class Candidate:
    """``reads`` are those that the upper level would serve, in the order of the strand.  A result has ``writes``; an
    operand instead has the read that would ``fill`` the entry.  ``loops`` are those of the strand, by position."""

    reads: tuple[Read, ...]
    writes: tuple[Write, ...] = ()
    fill: Read | None = None
    loops: tuple[tuple[int, int], ...] = ()

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The registers in ascending order; each occupies an entry, in this order."""
        accesses: Iterable[Read | Write] = (*self.reads, *self.writes, *((self.fill,) if self.fill else ()))
        return tuple(sorted({word for access in accesses for word in access.words}))

    @property
    def width(self) -> int:
        """The number of entries that it occupies."""
        return len(self.words)

    @property
    def pc(self) -> int:
        """The first instruction that writes or fills it."""
        return self.fill.pc if self.fill else self.writes[0].pc

    @cached_property
    def span(self) -> tuple[int, int]:
        """Time in which it occupies its entries, both ends included, in half instructions of the strand.

        An instruction at position p reads at 2 p and writes at 2 p + 1; a fill happens with the reads.  A value that is
        live across a loop's end, or loop-carried, occupies its entries during the whole loop.
        """
        begin = 2 * self.fill.at if self.fill else 2 * min(write.at for write in self.writes) + 1
        end = 2 * max(read.at for read in self.reads)
        for first, last in self.loops:
            top, bottom = 2 * first, 2 * last + 1
            meets = begin <= bottom and end >= top
            if meets and (begin < top or end > bottom or self._is_carried):
                begin, end = min(begin, top), max(end, bottom)
        return begin, end

    @property
    def _is_carried(self) -> bool:
        at = {write.key: write.at for write in self.writes}
        return any(at[key] >= read.at for read in self.reads for key in read.reaching if key in at)

    @property
    def slots(self) -> int:
        """Entries times the instructions during which they are occupied."""
        begin, end = self.span
        return self.width * max(1, (end - begin + 1) // 2)

    @property
    def is_brief(self) -> bool:
        """Whether each access directly follows the one before, or happens in the same instruction."""
        accesses: Iterable[Read | Write] = (*self.reads, *self.writes, *((self.fill,) if self.fill else ()))
        at = sorted({access.at for access in accesses})
        return at[-1] - at[0] < len(at)

    def savings(self, level: LevelCost, mrf: LevelCost, frequency: Mapping[int, float] = ONCE) -> float:
        """pJ that placing it in ``level`` saves; ``frequency`` is the number of executions by pc (default 1)."""

        def cost(access: Read | Write, pj: tuple[float, float]) -> float:
            return len(access.words) * pj[access.datapath] * frequency.get(access.pc, 1.0)

        kept = sum(cost(read, mrf.read) - cost(read, level.read) for read in self.reads)
        if self.fill:
            return kept - cost(self.fill, level.write)
        written = sum(cost(write, level.write) for write in self.writes)
        elided = sum(cost(write, mrf.write) for write in self.writes if not write.needs_mrf)
        return kept - written + elided

    def shortened(self) -> Candidate | None:
        """The candidate without the reads of the last reading instruction, which then use the main register file, and
        without writes that only they need; None if nothing is left (section 4.3)."""
        last = max(read.at for read in self.reads)
        reads = tuple(read for read in self.reads if read.at < last)
        if not reads:
            return None
        dropped = {key for read in self.reads if read.at == last for key in read.reaching}
        reached = {key for read in reads for key in read.reaching}
        writes = tuple(
            replace(write, needs_mrf=write.needs_mrf or write.key in dropped)
            for write in self.writes
            if write.key in reached
        )
        return replace(self, reads=reads, writes=writes)


def results(accesses: Accesses) -> Iterator[Candidate]:
    """One candidate for each set of writes with common reads; writes need at least one read that can be served."""
    groups = _Groups(accesses.writes)
    served = [read for read in accesses.reads if read.is_inside]
    for read in served:
        groups.join(read.reaching)
    reads: dict[int, list[Read]] = {}
    for read in served:
        reads.setdefault(groups.of(next(iter(read.reaching))), []).append(read)
    writes: dict[int, list[Write]] = {}
    for write in accesses.writes:
        writes.setdefault(groups.of(write.key), []).append(write)
    for group, found in reads.items():
        yield Candidate(tuple(found), tuple(writes[group]), loops=accesses.loops)


def operands(accesses: Accesses, blocks: Sequence[int], tree: DominatorTree) -> Iterator[Candidate]:
    """Operands from before the strand that are read again; ``blocks`` by pc, ``tree`` the kernel's dominators.

    The first unguarded read fills the entry for the reads that it dominates; the others form further candidates.
    """
    rows: dict[tuple[int, ...], list[Read]] = {}
    for read in accesses.reads:
        if read.is_outside:
            rows.setdefault(read.words, []).append(read)
    for left in rows.values():
        while (first := next((read for read in left if not read.guarded), None)) is not None:
            fill = first
            follow = [r for r in left if r.at > fill.at and precedes(fill, r, blocks, tree)]
            left = [r for r in left if r not in follow and r is not fill]
            if follow:
                yield Candidate(tuple(follow), fill=fill, loops=accesses.loops)


def precedes(fill: Read, read: Read, blocks: Sequence[int], tree: DominatorTree) -> bool:
    above, below = blocks[fill.pc], blocks[read.pc]
    return fill.pc < read.pc if above == below else tree.dominates(above, below)


class _Groups:
    """Union-find of writes that must use one place."""

    def __init__(self, writes: Sequence[Write]) -> None:
        self._parent = {write.key: write.key for write in writes}

    def of(self, key: int) -> int:
        while self._parent[key] != key:
            self._parent[key] = self._parent[self._parent[key]]
            key = self._parent[key]
        return key

    def join(self, keys: Iterable[int]) -> None:
        first, *others = {self.of(key) for key in keys}
        for other in others:
            self._parent[other] = first
