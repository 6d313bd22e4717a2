"""The writes and reads of a strand, and which writes reach which reads inside it.

An upper level can serve a read that only writes of its own strand reach.  If a value from before the strand also
reaches the read, its place is not known statically, so the value must be in the main register file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from warpreg.analysis.accesses import bit_set
from warpreg.analysis.last_reads import source_registers
from warpreg.analysis.liveness import Liveness, liveness
from warpreg.analysis.strands import Segment, Strand
from warpreg.designs.interface.program import Program
from warpreg.ir.kernel import Kernel

OUTSIDE = -1
"""The definition of every register's value at the start of the strand."""

Reaching = dict[int, frozenset[int]]
"""By register, the writes that reach a point; a missing register holds its value from before the strand."""

FROM_OUTSIDE = frozenset((OUTSIDE,))


@dataclass(frozen=True, slots=True)
class Write:
    """A result operand.  ``at`` is its position in the strand, ``rows`` are its rows of the program table and ``words``
    their registers.  ``needs_mrf``: a later strand, or a read that other values reach too, needs it in the MRF.
    ``shared_reader``: the shared datapath reads it in this strand, from whatever level."""

    pc: int
    at: int
    rows: tuple[int, ...]
    words: tuple[int, ...]
    datapath: int
    needs_mrf: bool = False
    shared_reader: bool = False

    @property
    def key(self) -> int:
        """A key unique among the writes of the kernel."""
        return self.rows[0]


@dataclass(frozen=True, slots=True)
class Read:
    """A source operand; ``slot`` is its position among the sources, ``reaching`` the keys of the writes that reach it,
    with OUTSIDE for a value from before the strand."""

    pc: int
    at: int
    rows: tuple[int, ...]
    words: tuple[int, ...]
    datapath: int
    slot: int
    guarded: bool
    reaching: frozenset[int]

    @property
    def is_inside(self) -> bool:
        """Whether only writes of the strand reach it."""
        return OUTSIDE not in self.reaching

    @property
    def is_outside(self) -> bool:
        """Whether no write of the strand reaches it."""
        return self.reaching == FROM_OUTSIDE


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of one strand in the order of its instructions; ``loops`` are the positions of its loops, first and
    last instruction of each."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]
    loops: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class KernelView:
    """A kernel with its program table, and cached analyses of it."""

    kernel: Kernel
    program: Program

    @cached_property
    def live(self) -> Liveness:
        return liveness(self.kernel)

    @cached_property
    def blocks(self) -> list[int]:
        """Per pc, its block."""
        return [block.index for block in self.kernel.blocks for _ in block.instructions]

    @cached_property
    def cells(self) -> dict[int, int]:
        """The cell of each register."""
        names = self.live.accesses.cells.names
        return {int(name[1:]): cell for cell, name in enumerate(names) if name[0] == "R"}

    @cached_property
    def sources(self) -> list[list[tuple[int, ...]]]:
        """Per pc, the rows of each register that a source operand names."""
        return [
            _split([len(register.words) for register in source_registers(i)], int(first))
            for i, first in zip(self.kernel.instructions(), self.program.source_start, strict=False)
        ]

    @cached_property
    def results(self) -> list[list[tuple[int, ...]]]:
        """Per pc, the rows of each register that it writes."""
        return [
            _split([len(register.words) for register in i.defined], int(first))
            for i, first in zip(self.kernel.instructions(), self.program.result_start, strict=False)
        ]

    @cached_property
    def merging(self) -> dict[int, frozenset[int]]:
        """Per guarded pc, the cells that it writes and that keep their old value in some lanes."""
        cells = {}
        for block in self.kernel.blocks:
            guarded = [pc for pc in self.live.accesses.block_pcs(block.index) if self.program.guarded[pc]]
            merged = self.live.merged(block.index) if guarded else []
            cells.update({pc: merged[pc - self.live.accesses.first_pcs[block.index]] for pc in guarded})
        return cells

    def live_before(self, block: int, pc: int) -> int:
        """The cells live before an instruction of a block, as a bit set."""
        if pc == self.live.accesses.first_pcs[block]:
            return self.live.live_in[block]
        return next(before for at, before, _ in self.live.backward(block) if at == pc)


def _split(widths: Sequence[int], first: int) -> list[tuple[int, ...]]:
    rows = []
    for width in widths:
        if width:
            rows.append(tuple(range(first, first + width)))
            first += width
    return rows


def accesses_of(view: KernelView, strand: Strand) -> Accesses:
    """The accesses of a strand of a kernel."""
    walk = _Walk(view, strand)
    walk.solve()
    return walk.result()


@dataclass
class _Walk:
    """Reaching-writes dataflow, segment by segment; strands without loops need one iteration."""

    view: KernelView
    strand: Strand
    ends: list[Reaching | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ends = [None] * len(self.strand.segments)
        self.first = []
        at = 0
        for segment in self.strand.segments:
            self.first.append(at)
            at += segment.end - segment.first

    def solve(self) -> None:
        """Iterate to the fixed point."""
        changed = True
        while changed:
            changed = False
            for position, segment in enumerate(self.strand.segments):
                end = self._through(segment, self._start(segment))
                changed |= end != self.ends[position] and any(
                    position in later.predecessors for later in self.strand.segments[: position + 1]
                )
                self.ends[position] = end

    def _start(self, segment: Segment) -> Reaching:
        known = [end for p in segment.predecessors if (end := self.ends[p]) is not None]
        if len(known) < 2:
            return dict(known[0]) if known else {}
        words = {word for end in known for word in end}
        return {word: frozenset().union(*(end.get(word, FROM_OUTSIDE) for end in known)) for word in words}

    def _through(self, segment: Segment, reaching: Reaching) -> Reaching:
        for pc in segment.pcs:
            self._write(pc, reaching)
        return reaching

    def _write(self, pc: int, reaching: Reaching) -> None:
        kept = self.view.merging.get(pc, ())
        for rows in self.view.results[pc]:
            for row in rows:
                word = int(self.view.program.result[row])
                old = reaching.get(word, FROM_OUTSIDE) if self.view.cells[word] in kept else frozenset()
                reaching[word] = old | {rows[0]}

    def result(self) -> Accesses:
        writes: dict[int, Write] = {}
        reads: list[Read] = []
        for first, segment in zip(self.first, self.strand.segments, strict=True):
            reaching = self._start(segment)
            for pc in segment.pcs:
                at = first + pc - segment.first
                reads += self._reads(pc, at, reaching)
                self._write(pc, reaching)
                writes.update({write.key: write for write in self._writes(pc, at)})
            self._mark_live_out(segment, reaching, writes)
        for read in reads:
            if not read.is_outside:
                _mark(read, writes)
        return Accesses(tuple(writes.values()), tuple(reads), tuple(self._loops()))

    def _reads(self, pc: int, at: int, reaching: Reaching) -> Iterator[Read]:
        program = self.view.program
        for rows in self.view.sources[pc]:
            words = tuple(int(program.source[row]) for row in rows)
            found = frozenset().union(*(reaching.get(word, FROM_OUTSIDE) for word in words))
            slot, guarded = int(program.source_slot[rows[0]]), bool(program.guarded[pc])
            yield Read(pc, at, rows, words, int(program.datapath[pc]), slot, guarded, found)

    def _writes(self, pc: int, at: int) -> Iterator[Write]:
        for rows in self.view.results[pc]:
            words = tuple(int(self.view.program.result[row]) for row in rows)
            yield Write(pc, at, rows, words, int(self.view.program.datapath[pc]))

    def _mark_live_out(self, segment: Segment, reaching: Reaching, writes: dict[int, Write]) -> None:
        """Mark values that are live where control leaves the strand: the main register file needs them."""
        live = 0
        for block, pc in segment.leaves:
            live |= self.view.live_before(block, pc)
        if not live & bit_set(self.view.cells[word] for word in reaching):
            return
        for word, keys in reaching.items():
            if live >> self.view.cells[word] & 1:
                for key in keys - FROM_OUTSIDE:
                    writes[key] = replace(writes[key], needs_mrf=True)

    def _loops(self) -> Iterator[tuple[int, int]]:
        for position, segment in enumerate(self.strand.segments):
            latches = [p for p in segment.predecessors if p >= position]
            if latches:
                last = self.strand.segments[max(latches)]
                yield self.first[position], self.first[max(latches)] + last.end - last.first - 1


def _mark(read: Read, writes: dict[int, Write]) -> None:
    """Set ``needs_mrf`` and ``shared_reader`` of the writes that reach a read."""
    for key in read.reaching - FROM_OUTSIDE:
        write = writes[key]
        writes[key] = replace(
            write,
            needs_mrf=write.needs_mrf or not read.is_inside,
            shared_reader=write.shared_reader or bool(read.datapath),
        )
