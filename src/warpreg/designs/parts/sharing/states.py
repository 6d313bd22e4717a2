"""Where a warp holds a section: where more registers are needed than the base set has (thesis §4.3, §4.3.1).

A register is needed at an instruction if a lane of the warp may still read it, active or waiting on the other side of a
branch.  The state is fixed for each instruction and each boundary between blocks.  All boundaries that the flow of the
warp connects have one state (`warp_successors`: the other side of a branch may follow, too), so a section is acquired
and released inside blocks only.  Therefore the state does not depend on the path: no acquire or release is repeated,
none is needed on an edge, and divergence does not change it.

Two rules keep warps from waiting for each other for ever.  The first is the paper's: the pool holds a section.  The
text of the second is cut off; this one is built: a warp that holds a section never waits for another warp.  It holds
none at a barrier, at a load that polls, or at the atomic of a lock.  Then a warp that holds a section comes to its
release or its end, whatever others do: it waits for memory and units only, and never for a section, as it has one.  So
some warp can always go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.parts.sharing.barrier_edges import place_holders, waiting_ends
from warpreg.designs.parts.sharing.instructions import ends_block, waiting_points
from warpreg.designs.parts.window.warp_flow import warp_successors
from warpreg.ir.kernel import Block, Kernel

START, END = 0, 1
Boundary = tuple[int, int]
"""A block, and START or END."""


class DivisionError(DesignError):
    """A base set with which a kernel cannot be compiled; names kernel, value and bound."""


@dataclass
class Marks:
    """What is held beyond need because registers could not be compacted: ``pcs`` and ``boundaries``."""

    pcs: set[int] = field(default_factory=set)
    boundaries: set[Boundary] = field(default_factory=set)

    @property
    def count(self) -> int:
        return len(self.pcs) + len(self.boundaries)

    def add(self, more: Marks) -> None:
        """Mark these, too."""
        self.pcs |= more.pcs
        self.boundaries |= more.boundaries


@dataclass(frozen=True, slots=True)
class States:
    """Whether the warp holds a section ``at`` each instruction, and at each ``boundary``; where it may hold none:
    ``free`` instructions and ``free_boundaries``.
    """

    at: tuple[bool, ...]
    boundary: dict[Boundary, bool]
    free: frozenset[int]
    free_boundaries: frozenset[Boundary]


@dataclass(frozen=True, slots=True)
class Need:
    """Registers needed ``before`` and ``after`` each instruction, results that nothing reads included; ``first_pcs`` of
    the blocks.
    """

    before: Sequence[int]
    after: Sequence[int]
    first_pcs: Sequence[int]

    def at(self, pc: int) -> int:
        """The most of both."""
        return max(self.before[pc], self.after[pc])

    def at_boundary(self, boundary: Boundary) -> int:
        """Those needed at a boundary of a block with instructions."""
        block, side = boundary
        return self.before[self.first_pcs[block]] if side == START else self.after[self.first_pcs[block + 1] - 1]


def need_of(analysis: Analysis) -> Need:
    """The registers that some lane of the warp needs, by pc."""
    waiting = analysis.waiting[analysis.block_of]
    after = analysis.live_after | waiting
    for pc, instruction in enumerate(analysis.kernel.instructions()):
        for register in instruction.defined:
            after[pc, list(register.words)] = True
    before = (analysis.live_before | waiting).sum(axis=1).tolist()
    return Need(before, after.sum(axis=1).tolist(), analysis.kernel.first_pcs())


def states_of(analysis: Analysis, need: Need, base: int, marks: Marks, gap: int = 0) -> States:
    """The states for a base set.  Fewer than ``gap`` instructions between two that hold are held as well.

    Raises DivisionError if more registers are needed where no section may be held.
    """
    kernel = analysis.kernel
    free, connected = waiting_points(kernel) | place_holders(kernel), _connected(kernel)
    held = {connected[one] for one in _held_boundaries(kernel, need, base) | marks.boundaries}
    boundary = {one: root in held for one, root in connected.items()}
    ends = {connected[block, END] for block in waiting_ends(kernel)}
    at: list[bool] = []
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        pcs = range(first, first + len(block.instructions))
        row = [pc in marks.pcs or need.at(pc) > base for pc in pcs]
        _check(kernel, block, [pc for pc, is_held in zip(pcs, row, strict=True) if is_held and pc in free], need, base)
        _fill_gaps(row, [pc in free for pc in pcs], gap)
        if ends_block(block):
            row[-1] = boundary[block.index, END]
            _check(kernel, block, [pc for pc in pcs[-1:] if row[-1] and pc in free], need, base)
        at += row
    return States(tuple(at), boundary, free, frozenset(one for one, root in connected.items() if root in ends))


def _held_boundaries(kernel: Kernel, need: Need, base: int) -> set[Boundary]:
    """The boundaries at which more registers are needed, and ends of blocks whose last instruction needs more."""
    boundaries: set[Boundary] = set()
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        if block.instructions:
            last = first + len(block.instructions) - 1
            if need.before[first] > base:
                boundaries.add((block.index, START))
            if need.after[last] > base or (ends_block(block) and need.at(last) > base):
                boundaries.add((block.index, END))
    return boundaries


def _connected(kernel: Kernel) -> dict[Boundary, Boundary]:
    """By boundary, one that stands for all that the flow of the warp connects with it."""
    parent: dict[Boundary, Boundary] = {}

    def find(one: Boundary) -> Boundary:
        while parent.setdefault(one, one) != one:
            parent[one] = one = parent[parent[one]]
        return one

    for block, successors in zip(kernel.blocks, warp_successors(kernel), strict=True):
        if not block.instructions:
            parent[find((block.index, START))] = find((block.index, END))
        for successor in successors:
            parent[find((block.index, END))] = find((successor, START))
    return {(block.index, side): find((block.index, side)) for block in kernel.blocks for side in (START, END)}


def _fill_gaps(row: list[bool], free: Sequence[bool], gap: int) -> None:
    """Hold short parts between two that hold, unless the warp may wait there."""
    last = None
    for position, is_held in enumerate(row):
        if not is_held:
            continue
        if last is not None and position - last - 1 < gap and not any(free[last + 1 : position]):
            row[last + 1 : position] = [True] * (position - last - 1)
        last = position


def _check(kernel: Kernel, block: Block, wrong: Sequence[int], need: Need, base: int) -> None:
    """Raise DivisionError for the first of some instructions that may wait and would hold a section."""
    for pc in wrong:
        text = str(block.instructions[pc - kernel.first_pcs()[block.index]])
        if need.at(pc) > base:
            raise DivisionError(
                f"kernel {kernel.name}: {need.at(pc)} registers are live at '{text}' (pc {pc}), where a warp may hold "
                f"no section, and the base set has {base}"
            )
        raise DivisionError(
            f"kernel {kernel.name}: a base set of {base} registers leaves a section held at '{text}' (pc {pc}), where "
            "a warp may hold none"
        )
