"""Registers below the base set wherever the warp holds no section (index compaction, thesis §4.3.1).

A value that is live, or that waiting lanes need, where no section is held must lie in the base set; one that already
does keeps its register, and each other gets the lowest free one.  A value that is needed only where a section is held
may have any register; it makes room if it must.  Values are webs of definitions and reads, so a value has one register
on all paths.  Words of wide operands stay together and aligned.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from warpreg.analysis.accesses import members
from warpreg.analysis.values import values
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.sharing.groups import NO_REGISTER, Groups, groups_of
from warpreg.designs.sharing.instructions import ACQUIRE, RELEASE, action_of
from warpreg.designs.sharing.staging import INSERTED, Staged
from warpreg.designs.sharing.states import END, START, Marks
from warpreg.designs.window.live_values import live_values
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register


@dataclass(frozen=True)
class Compacted:
    """``register`` [value] of a staged kernel after compaction; ``failed``: values that found no register."""

    register: tuple[int, ...]
    failed: int


@dataclass(frozen=True)
class Confined:
    """Where values of a staged kernel must be in the base set: bit sets by pc and by boundary, and ``all`` of them."""

    at: tuple[int, ...]
    boundary: dict[tuple[int, int], int]
    all: int


def confined(stage: Staged) -> Confined:
    """The values that some lane needs where the warp holds no section."""
    kernel, live, found = stage.kernel, live_values(stage.kernel), values(stage.kernel)
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
                named = sum(1 << value for value in {*found.written[pc], *found.read[pc]})
                at[pc] = live.before[pc] | live.after[pc] | waiting | named
        if pcs and not stage.states.boundary[block.index, END]:
            boundary[block.index, END] = live.after[pcs[-1]] | waiting
    total = 0
    for bits in (*at, *boundary.values()):
        total |= bits
    return Confined(tuple(at), boundary, total)


def compacted(stage: Staged, base: int, registers: int, wanted: Confined) -> Compacted:
    """New registers of the values, of ``registers`` in all."""
    groups = groups_of(stage.kernel)
    room = _Room(groups, _ranges(stage.kernel), base, registers, wanted.all)
    for number in range(len(groups.members)):
        if not room.is_outside(number):
            room.take(number, 0)
    failed = 0
    for number in sorted((n for n in range(len(groups.members)) if room.is_outside(n)), key=room.difficulty):
        if not room.settle(number):
            failed |= sum(1 << value for value in groups.members[number])
    shifts = [room.shift[number] for number in groups.group]
    pairs = zip(groups.register, shifts, strict=True)
    return Compacted(tuple(own + shift if own != NO_REGISTER else own for own, shift in pairs), failed)


def marks_of(stage: Staged, wanted: Confined, failed: int) -> Marks:
    """Where some values would have to be in the base set: the instructions of the original kernel, and boundaries."""
    pcs = {original for original, bits in zip(stage.original, wanted.at, strict=True) if bits & failed}
    return Marks(pcs - {INSERTED}, {one for one, bits in wanted.boundary.items() if bits & failed})


def _ranges(kernel: Kernel) -> list[int]:
    """By value, the points at which it is live: before pc is bit ``2 * pc``, after it the next one."""
    live, found = live_values(kernel), values(kernel)
    ranges = [0] * len(found.values)
    for pc, (before, after) in enumerate(zip(live.before, live.after, strict=True)):
        for value in members(before):
            ranges[value] |= 1 << 2 * pc
        for value in {*members(after), *found.written[pc]}:
            ranges[value] |= 2 << 2 * pc
    return ranges


@dataclass
class _Room:
    """``taken`` [register]: the points at which it holds a value; ``shift`` [group]: the distance to its register."""

    groups: Groups
    ranges: list[int]
    base: int
    registers: int
    confined: int
    shift: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shift = [0] * len(self.groups.members)
        self.taken: list[dict[int, int]] = [{} for _ in range(self.registers)]
        self.busy = [0] * self.registers

    def is_outside(self, number: int) -> bool:
        """Whether a group has a value in the extended set that must be in the base set."""
        own = self.groups.members[number]
        return any(self.confined >> value & 1 and self.groups.register[value] >= self.base for value in own)

    def is_confined(self, number: int) -> bool:
        return any(self.confined >> value & 1 for value in self.groups.members[number])

    def difficulty(self, number: int) -> tuple[int, int, int]:
        """Large groups first, then long ones."""
        own = self.groups.members[number]
        return -len({self.groups.register[v] for v in own}), -sum(self.ranges[v].bit_count() for v in own), number

    def take(self, number: int, shift: int) -> None:
        """Give a group its registers."""
        self.shift[number] = shift
        for value in self.groups.members[number]:
            if self.groups.register[value] != NO_REGISTER:
                register = self.groups.register[value] + shift
                self.taken[register][value] = self.ranges[value]
                self.busy[register] |= self.ranges[value]

    def leave(self, number: int) -> None:
        """Take its registers away again."""
        for value in self.groups.members[number]:
            register = self.groups.register[value] + self.shift[number]
            del self.taken[register][value]
            self.busy[register] = 0
            for points in self.taken[register].values():
                self.busy[register] |= points

    def settle(self, number: int) -> bool:
        """Give a group registers, the lowest ones that nothing holds, else the lowest ones that others can leave."""
        choices = [(self._in_the_way(number, shift), shift) for shift in self._shifts(number)]
        for others, shift in choices:
            if not others:
                self.take(number, shift)
                return True
        return any(self._displace(number, shift, others) for others, shift in choices)

    def _displace(self, number: int, shift: int, others: set[int]) -> bool:
        """Give a group registers whose groups get others; False, and nothing changes, where these find none."""
        before = {other: self.shift[other] for other in others}
        for other in others:
            self.leave(other)
        self.take(number, shift)
        moved: list[int] = []
        for other in sorted(others, key=self.difficulty):
            free = next((s for s in self._shifts(other) if not self._in_the_way(other, s)), None)
            if free is None:
                for one in (*moved, number):
                    self.leave(one)
                for one, old in before.items():
                    self.take(one, old)
                return False
            self.take(other, free)
            moved.append(other)
        return True

    def _shifts(self, number: int) -> list[int]:
        """The shifts that a group may have, the lowest registers first."""
        own, step = self.groups.members[number], self.groups.alignment[number]
        registers = [self.groups.register[value] for value in own]
        highest = max(
            self.groups.register[value] - (self.base - self.registers) * (self.confined >> value & 1) for value in own
        )
        first = -(min(registers) // step) * step
        return list(range(first, self.registers - highest, step))

    def _in_the_way(self, number: int, shift: int) -> set[int]:
        """The groups that hold these registers at some point at which the group is live."""
        found: set[int] = set()
        for value in self.groups.members[number]:
            register, points = self.groups.register[value] + shift, self.ranges[value]
            if self.busy[register] & points:
                found.update(self.groups.group[v] for v, held in self.taken[register].items() if held & points)
        return found


def renamed(stage: Staged, register: tuple[int, ...]) -> tuple[Kernel, tuple[int, ...]]:
    """The kernel with the values in their new registers, without moves of a register to itself; and by pc the pc in the
    original kernel.
    """
    kernel, found = stage.kernel, values(stage.kernel)
    bodies: dict[int, list[Instruction]] = {}
    original: list[int] = []
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        bodies[block.index] = []
        for pc, instruction in enumerate(block.instructions, first):
            results = _operands(instruction.results, found.written[pc], register)
            sources = _operands(instruction.sources, found.read[pc], register)
            is_needless = stage.original[pc] == INSERTED and bool(results) and results == sources
            if not is_needless:
                bodies[block.index].append(replace(instruction, operands=(*results, *sources)))
                original.append(stage.original[pc])
    return with_blocks(kernel, bodies), tuple(original)


def _operands(
    operands: tuple[Operand, ...], numbers: tuple[int, ...], register: tuple[int, ...]
) -> tuple[Operand, ...]:
    """Operands with the registers of their values, which ``numbers`` lists in order."""
    left = iter(numbers)

    def leaf(operand: Operand) -> Operand:
        if not isinstance(operand, Register):
            return operand
        if not operand.words:
            next(left)
            return operand
        first, *_ = [next(left) for _ in operand.words]
        index = register[first]
        return operand if index == operand.index else replace(operand, name=f"R{index}", index=index)

    return tuple(map_operand(operand, leaf) for operand in operands)
