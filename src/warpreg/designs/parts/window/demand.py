"""The registers that a kernel needs if some of its values have none: first fit over the values that remain.

The words of a 64-bit operand, and the elements of a vector of a memory instruction, stay next to each other and
aligned as in the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from warpreg.analysis.accesses import accesses, bit_set, members
from warpreg.analysis.values import Values, values
from warpreg.codegen.regalloc.allocation_units import vector_groups
from warpreg.designs.parts.window.live_values import live_values
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register


def register_demand(kernel: Kernel, without: Collection[int] = ()) -> int:
    """Registers per thread without the values numbered ``without``, at most those that the kernel has now."""
    assignment = _Assignment(kernel, values(kernel), frozenset(without))
    return min(kernel.register_count, assignment.used())


@dataclass
class _Group:
    """Values at fixed distances: the live points of each register, relative to the first, and the alignment that some
    register of the group has."""

    words: dict[int, int] = field(default_factory=dict)
    alignment: int = 1

    @property
    def start(self) -> int:
        """The first point at which a value is live."""
        return min((points & -points).bit_length() for points in self.words.values())


class _Assignment:
    def __init__(self, kernel: Kernel, found: Values, without: frozenset[int]) -> None:
        self.kernel, self.found, self.without = kernel, found, without
        self.table = accesses(kernel)
        self.parent = list(range(len(found.values)))
        self.alignments = [1] * len(found.values)

    def used(self) -> int:
        """Registers that first fit uses, the groups in order of their start."""
        occupied: list[int] = []
        for group in sorted(self._groups(), key=lambda one: (one.start, -len(one.words))):
            lowest = min(group.words)
            shift = -(lowest // group.alignment * group.alignment)
            while not self._fits(group, shift, occupied):
                shift += group.alignment
            for register, points in group.words.items():
                occupied += [0] * (register + shift + 1 - len(occupied))
                occupied[register + shift] |= points
        return len(occupied)

    @staticmethod
    def _fits(group: _Group, shift: int, occupied: list[int]) -> bool:
        return all(
            register + shift >= len(occupied) or not occupied[register + shift] & points
            for register, points in group.words.items()
        )

    def _groups(self) -> Iterator[_Group]:
        for pc, instruction in enumerate(self.kernel.instructions()):
            self._join_operands(pc, instruction)
        live = live_points(self.kernel)
        groups: dict[int, _Group] = {}
        for number, value in enumerate(self.found.values):
            name = self.table.cells.names[value.cell]
            if name[0] == "R" and number not in self.without and live[number]:
                group = groups.setdefault(self._find(number), _Group())
                register = int(name[1:])
                group.words[register] = group.words.get(register, 0) | live[number]
                group.alignment = max(group.alignment, self.alignments[self._find(number)])
        yield from groups.values()

    def _join_operands(self, pc: int, instruction: Instruction) -> None:
        """Keep together what an operand of several words names."""
        numbers = dict(zip(self.table.read[pc], self.found.read[pc], strict=True))
        self._join_wide(instruction.used, instruction, numbers)
        numbers = dict(zip(self.table.written[pc], self.found.written[pc], strict=True))
        self._join_wide(instruction.defined, instruction, numbers)

    def _join_wide(self, registers: tuple[Register, ...], instruction: Instruction, numbers: dict[int, int]) -> None:
        wide = [(register,) for register in registers if len(register.words) > 1]
        vectors = [tuple(e for e in group if isinstance(e, Register)) for group in vector_groups(instruction)]
        for operand in [*wide, *vectors]:
            cells = [cell for register in operand for cell in self.table.cells.of(register)]
            joined = [numbers[cell] for cell in cells if cell in numbers]
            for number in joined:
                self._join(joined[0], number, 1 << (len(cells) - 1).bit_length())

    def _find(self, number: int) -> int:
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def _join(self, one: int, other: int, alignment: int) -> None:
        one, other = self._find(one), self._find(other)
        self.parent[other] = one
        self.alignments[one] = max(self.alignments[one], self.alignments[other], alignment)


def live_points(kernel: Kernel) -> list[int]:
    """Per value, the points at which it is live as a bit set: an instruction reads at 2 pc and writes at 2 pc + 1."""
    live, webs = live_values(kernel), values(kernel)
    points = [0] * len(webs.values)
    for pc, (before, after) in enumerate(zip(live.before, live.after, strict=True)):
        for number in members(before):
            points[number] |= 1 << 2 * pc
        for number in members(after | bit_set(webs.written[pc])):
            points[number] |= 2 << 2 * pc
    return points
