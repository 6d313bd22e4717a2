"""Strands: the regions of code in which values may stay above the main register file.

A strand is a single-entry region of the control-flow graph that begins at a *boundary*.  Each paper has its own rules
for boundaries (:class:`StrandRules`); two more follow from the definition of a strand:

- a block whose predecessors end in different strands begins one;
- inactive lanes, at the other target of a branch or at its reconvergence point, lose their upper-level values if the
  warp is descheduled meanwhile, so these blocks begin strands too.  The fall-through side runs first and loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from warpreg.analysis.cfg import ControlFlow, control_flow
from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.kernel import Kernel

UNREACHABLE = -1


class Start(IntEnum):
    """How a strand starts at an instruction.

    ``BEGINS``: without waiting.  ``WAITS``: once all long-latency results have arrived; the warp may be descheduled.
    ``RESUMES``: after a barrier, fence or host service, at which the warp may have been descheduled.
    """

    INSIDE = 0
    BEGINS = 1
    WAITS = 2
    RESUMES = 3

    @property
    def deschedules(self) -> bool:
        """Whether the warp may have left the active set here."""
        return self >= Start.WAITS


@dataclass(frozen=True, slots=True)
class Boundary:
    """A point where a strand begins, and the reason."""

    start: Start
    reason: str


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Boundaries at the start of blocks, by block, and before other instructions, by pc; of reachable code."""

    blocks: Mapping[int, Boundary]
    inside: Mapping[int, Boundary]


class StrandRules(Protocol):
    """A paper's rules."""

    def boundaries(self, kernel: Kernel, long_latency: Sequence[bool], forced: Mapping[int, str]) -> Boundaries:
        """Where strands begin; always at the blocks in ``forced``, which maps them to reasons."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """Instructions ``first`` to ``end`` - 1 of one block, all in one strand.

    ``predecessors`` are the positions in the strand of the preceding segments: all of the block's predecessors, none at
    the strand's entry.  ``leaves`` are the successors outside the strand, as (block, pc), the pc being the block's
    first or one inside it.
    """

    block: int
    first: int
    end: int
    predecessors: tuple[int, ...]
    leaves: tuple[tuple[int, int], ...]

    @property
    def pcs(self) -> range:
        """Range of its instructions."""
        return range(self.first, self.end)


@dataclass(frozen=True, slots=True)
class Strand:
    """Segments, the entry first, each after its predecessors except for loops inside the strand."""

    segments: tuple[Segment, ...]

    @property
    def pcs(self) -> tuple[int, ...]:
        """All its instructions in segment order."""
        return tuple(pc for segment in self.segments for pc in segment.pcs)


@dataclass(frozen=True, slots=True)
class Strands:
    """The strands of a kernel.  By pc: ``number`` of the strand (-1 if unreachable), ``start``, and ``reasons`` why a
    strand begins there."""

    strands: tuple[Strand, ...]
    number: tuple[int, ...]
    start: tuple[Start, ...]
    reasons: Mapping[int, str]


def strands(kernel: Kernel, rules: StrandRules, long_latency: Sequence[bool]) -> Strands:
    """The strands of a kernel by ``rules``; ``long_latency`` marks, by pc, results that a warp is descheduled for.

    Each iteration except the last adds blocks that must begin a strand.
    """
    flow = control_flow(kernel)
    forced: dict[int, str] = {}
    while True:
        boundaries = rules.boundaries(kernel, long_latency, forced)
        pieces = _pieces(kernel, flow, boundaries)
        needed = dict.fromkeys(_waiting(kernel, flow, boundaries), "lanes wait here while others may be descheduled")
        needed |= dict.fromkeys(_meetings(flow, boundaries, pieces), "paths of different strands meet")
        if needed.keys() <= boundaries.blocks.keys():
            return _result(kernel, flow, boundaries, pieces)
        forced |= {block: reason for block, reason in needed.items() if block not in boundaries.blocks}


def strand_ends(kernel: Kernel, found: Strands) -> tuple[bool, ...]:
    """Per pc, whether it may be the last of its strand: another begins after it on some path, or the kernel ends."""
    ends = [False] * kernel.instruction_count
    for strand in found.strands:
        for segment in strand.segments:
            last = not control_flow(kernel).successors[segment.block] and segment.end > segment.first
            if (segment.leaves or last) and segment.end > segment.first:
                ends[segment.end - 1] = True
    return tuple(ends)


def retreating(flow: ControlFlow) -> Callable[[int, int], bool]:
    """Whether an edge between reachable blocks is a backward branch: its target is not later in reverse postorder."""
    position = {block: place for place, block in enumerate(flow.reverse_postorder)}
    return lambda source, target: position[target] <= position[source]


def next_to_backward_branch(flow: ControlFlow, block: int) -> str:
    """Why a backward branch makes a block begin a strand: the block is its target or follows it; else empty."""
    is_backward = retreating(flow)
    before = [p for p in flow.predecessors[block] if p in flow.reverse_postorder]
    if any(is_backward(p, block) for p in before):
        return "target of a backward branch"
    if any(is_backward(p, s) for p in before for s in flow.successors[p]):
        return "follows a backward branch"
    return ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Consecutive instructions of a block without a boundary inside; ``strand`` is the number of its strand."""

    first: int
    end: int
    strand: int


def _pieces(kernel: Kernel, flow: ControlFlow, boundaries: Boundaries) -> dict[int, list[_Piece]]:
    """The pieces of each reachable block.  A block continues the strand of its first predecessor."""
    first = kernel.first_pcs()
    pieces: dict[int, list[_Piece]] = {}
    count = 0
    for block in flow.reverse_postorder:
        before = [pieces[p][-1].strand for p in flow.predecessors[block] if p in pieces]
        cuts = [pc for pc in range(first[block] + 1, first[block + 1]) if pc in boundaries.inside]
        row = []
        for start, end in zip([first[block], *cuts], [*cuts, first[block + 1]], strict=True):
            goes_on = start == first[block] and block not in boundaries.blocks and before
            row.append(_Piece(start, end, before[0] if goes_on else count))
            count += not goes_on
        pieces[block] = row
    return pieces


def _meetings(flow: ControlFlow, boundaries: Boundaries, pieces: Mapping[int, list[_Piece]]) -> Iterator[int]:
    """Blocks with predecessors in more than one strand."""
    for block in flow.reverse_postorder:
        arriving = {pieces[p][-1].strand for p in flow.predecessors[block] if p in pieces}
        if block not in boundaries.blocks and not arriving <= {pieces[block][0].strand}:
            yield block


def _waiting(kernel: Kernel, flow: ControlFlow, boundaries: Boundaries) -> Iterator[int]:
    """Blocks where lanes may wait while other lanes of the warp reach a point where it is descheduled.

    These are the targets of a branch except the one that runs first (the last successor), and the reconvergence point.
    """
    first = kernel.first_pcs()
    lossy = {block for block, boundary in boundaries.blocks.items() if boundary.start.deschedules}
    for block in flow.reverse_postorder:
        inside = (boundaries.inside.get(pc) for pc in range(first[block], first[block + 1]))
        if any(boundary is not None and boundary.start.deschedules for boundary in inside):
            lossy.add(block)
    meeting = reconvergence(kernel)
    for branch in flow.reverse_postorder:
        targets, end = kernel.blocks[branch].successors, meeting[branch]
        if len(set(targets)) < 2 or lossy.isdisjoint(_between(flow, targets, end)):
            continue
        others = targets if len(targets) > 2 else targets[:1]
        yield from dict.fromkeys(block for block in (*others, end) if block >= 0)


def _between(flow: ControlFlow, targets: Sequence[int], end: int) -> set[int]:
    """Blocks reachable from the targets of a branch without passing its reconvergence point ``end``."""
    region: set[int] = set()
    work = [target for target in targets if target != end]
    while work:
        block = work.pop()
        if block not in region:
            region.add(block)
            work.extend(s for s in flow.successors[block] if s != end)
    return region


def _result(kernel: Kernel, flow: ControlFlow, boundaries: Boundaries, pieces: Mapping[int, list[_Piece]]) -> Strands:
    first = kernel.first_pcs()
    size = kernel.instruction_count
    number, start = [UNREACHABLE] * size, [Start.INSIDE] * size
    places: dict[tuple[int, int], int] = {}
    members: dict[int, list[tuple[int, int]]] = {}
    for block, row in pieces.items():
        for position, piece in enumerate(row):
            places[block, position] = len(members.setdefault(piece.strand, []))
            members[piece.strand].append((block, position))
            number[piece.first : piece.end] = [piece.strand] * (piece.end - piece.first)

    def segment(block: int, position: int) -> Segment:
        piece, last = pieces[block][position], position + 1 == len(pieces[block])
        inside = position == 0 and block not in boundaries.blocks
        before = [p for p in flow.predecessors[block] if p in pieces] if inside else []
        followers = flow.successors[block] if last else ()
        leaves = [(b, first[b]) for b in followers if b in boundaries.blocks]
        return Segment(
            block,
            piece.first,
            piece.end,
            tuple(places[p, len(pieces[p]) - 1] for p in before),
            tuple(leaves) if last else ((block, piece.end),),
        )

    reasons = {pc: boundary.reason for pc, boundary in boundaries.inside.items()}
    for pc, boundary in boundaries.inside.items():
        start[pc] = boundary.start
    for block, boundary in boundaries.blocks.items():
        if kernel.blocks[block].instructions:
            start[first[block]] = boundary.start
            reasons[first[block]] = boundary.reason
    built = tuple(Strand(tuple(segment(*at) for at in members[strand])) for strand in sorted(members))
    return Strands(built, tuple(number), tuple(start), reasons)
