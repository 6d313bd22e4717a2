"""Registers below the base set wherever the warp holds no section (index compaction, thesis §4.3.1).

A value that is live, or that waiting lanes need, where no section is held must lie in the base set; one that already
does keeps its register, and each other gets the lowest free one.  A value that is needed only where a section is held
may have any register; it makes room if it must.  Values are webs of definitions and reads, so a value has one register
on all paths.  Words of wide operands stay together and aligned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpreg.analysis.accesses import Cells, accesses
from warpreg.analysis.values import values
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.parts.sharing.groups import NO_REGISTER, groups_of
from warpreg.designs.parts.sharing.instructions import ACQUIRE, RELEASE, action_of
from warpreg.designs.parts.sharing.seats import Seats, points_of
from warpreg.designs.parts.sharing.staging import INSERTED, StagedKernel
from warpreg.designs.parts.sharing.states import END, START, Marks, Need
from warpreg.designs.parts.window.live_values import live_values
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register


@dataclass(frozen=True)
class Compaction:
    """``register`` [value] of a staged kernel after compaction; ``failed``: values that found no register."""

    register: tuple[int, ...]
    failed: int


@dataclass(frozen=True)
class Confinement:
    """Where values of a staged kernel must be in the base set: bit sets by pc and by boundary, and ``all`` of them."""

    at: tuple[int, ...]
    boundary: dict[tuple[int, int], int]
    all: int


def confined(stage: StagedKernel) -> Confinement:
    """The values that some lane needs where the warp holds no section."""
    kernel, live, webs = stage.kernel, live_values(stage.kernel), values(stage.kernel)
    at = [0] * kernel.instruction_count
    boundary: dict[tuple[int, int], int] = {}
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        pcs = range(first, first + len(block.instructions))
        waiting = live.waiting[block.index]
        held = stage.states.boundary[block.index, START]
        if pcs and not held:
            boundary[block.index, START] = live.before[pcs[0]] | waiting
        for pc, instruction in zip(pcs, block.instructions, strict=True):
            action = action_of(instruction)
            if action == ACQUIRE:
                held = True
            elif action == RELEASE:
                held = False
                at[pc] = live.after[pc] | waiting
            elif not held:
                named = sum(1 << value for value in {*webs.written[pc], *webs.read[pc]})
                at[pc] = live.before[pc] | live.after[pc] | waiting | named
        if pcs and not stage.states.boundary[block.index, END]:
            boundary[block.index, END] = live.after[pcs[-1]] | waiting
    total = 0
    for bits in (*at, *boundary.values()):
        total |= bits
    return Confinement(tuple(at), boundary, total)


def compacted(stage: StagedKernel, base: int, registers: int, wanted: Confinement) -> Compaction:
    """New registers of the values, of ``registers`` in all: first of those that must be in the base set."""
    groups = groups_of(stage.kernel)
    seats = Seats(groups, points_of(stage.kernel), base, registers, wanted.all)
    numbers = [number for number, own in enumerate(groups.members) if groups.register[own[0]] != NO_REGISTER]
    confined_groups = [number for number in numbers if seats.is_confined(number)]
    failed = set(seats.seat(confined_groups))
    for number in seats.seat([number for number in numbers if not seats.is_confined(number)]):
        failed |= seats.confined_beside(number)
    return Compaction(seats.registers_of_values(), sum(1 << v for number in failed for v in groups.members[number]))


def tightest(stage: StagedKernel, wanted: Confinement, failed: int, need: Need, slack: int) -> Marks:
    """Where a section could be held so that some values need not be in the base set: of the instructions and boundaries
    at which they must be there and where the warp may hold one, those at which most registers are needed, or up to
    ``slack`` fewer.
    """
    pcs = {pc for pc, bits in zip(stage.original, wanted.at, strict=True) if bits & failed}
    pcs -= {INSERTED, *stage.states.free}
    boundaries = {one for one, bits in wanted.boundary.items() if bits & failed} - stage.states.free_boundaries
    most = max((*map(need.at, pcs), *map(need.at_boundary, boundaries)), default=0)
    least = most - slack
    return Marks(
        {pc for pc in pcs if need.at(pc) >= least}, {one for one in boundaries if need.at_boundary(one) >= least}
    )


def renamed(stage: StagedKernel, register: tuple[int, ...]) -> tuple[Kernel, tuple[int, ...]]:
    """The kernel with the values in their new registers, without moves of a register to itself; and by pc the pc in the
    original kernel.
    """
    kernel, webs, cells = stage.kernel, values(stage.kernel), accesses(stage.kernel).cells
    bodies: dict[int, list[Instruction]] = {}
    original: list[int] = []
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        bodies[block.index] = []
        for pc, instruction in enumerate(block.instructions, first):
            results = _operands(instruction.results, webs.written[pc], register, cells)
            sources = _operands(instruction.sources, webs.read[pc], register, cells)
            is_needless = stage.original[pc] == INSERTED and bool(results) and results == sources
            if not is_needless:
                bodies[block.index].append(replace(instruction, operands=(*results, *sources)))
                original.append(stage.original[pc])
    count = max(kernel.register_count, 1 + max(register, default=0))
    return replace(with_blocks(kernel, bodies), register_count=count), tuple(original)


def _operands(
    operands: tuple[Operand, ...], numbers: tuple[int, ...], register: tuple[int, ...], cells: Cells
) -> tuple[Operand, ...]:
    """Operands with the registers of their values, which ``numbers`` lists in order."""
    left = iter(numbers)

    def leaf(operand: Operand) -> Operand:
        if not isinstance(operand, Register):
            return operand
        first, *_ = [next(left) for _ in cells.of(operand)]
        if not operand.words:
            return operand
        index = register[first]
        return operand if index == operand.index else replace(operand, name=f"R{index}", index=index)

    return tuple(map_operand(operand, leaf) for operand in operands)
