"""Values that lie in adjacent registers: words of wide operands, and vectors of memory instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpreg.analysis.accesses import accesses, members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.values import values
from warpreg.codegen.regalloc.allocation_units import is_grouping, vectors
from warpreg.ir.instruction import registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register

NO_REGISTER = -1
PAIR = 2


@dataclass(frozen=True)
class Groups:
    """``register`` and ``group`` [value]: its register (NO_REGISTER for a predicate), and the number of its group;
    ``members`` and ``alignment`` [group]: its values, and the multiple by which their registers may be shifted.
    """

    register: tuple[int, ...]
    group: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    alignment: tuple[int, ...]

    def to_move(self, live: int, waiting: int, first: int) -> list[int]:
        """The registers of ``live`` values to be moved, ascending: all words of a group with one from ``first`` on;
        nothing of a group that lanes of the warp are ``waiting`` with.
        """
        registers: set[int] = set()
        for number in {self.group[value] for value in members(live) if self.register[value] >= first}:
            own = self.members[number]
            if not any(waiting >> value & 1 for value in own):
                registers.update(self.register[value] for value in own if live >> value & 1)
        return sorted(registers)


@cached_analysis
def groups_of(kernel: Kernel) -> Groups:
    """The groups of a kernel's values."""
    names, webs = accesses(kernel).cells.names, values(kernel)
    register = tuple(int(names[v.cell][1:]) if names[v.cell][0] == "R" else NO_REGISTER for v in webs.values)
    parent = list(range(len(register)))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = value = parent[parent[value]]
        return value

    shifts: list[tuple[int, int]] = []
    for instruction, written, read in zip(kernel.instructions(), webs.written, webs.read, strict=True):
        groups = is_grouping(instruction)
        for operands, numbers in ((instruction.results, written), (instruction.sources, read)):
            at = {register[value]: value for value in numbers}
            for words, alignment in _adjacent(operands, groups):
                shifts.append((at[words[0]], alignment))
                for word in words[1:]:
                    parent[find(at[word])] = find(at[words[0]])
    return _numbered(register, [find(value) for value in range(len(register))], shifts)


def _numbered(register: tuple[int, ...], roots: Sequence[int], shifts: Sequence[tuple[int, int]]) -> Groups:
    """The groups, numbered by their first value."""
    own: dict[int, list[int]] = {}
    for value, root in enumerate(roots):
        own.setdefault(root, []).append(value)
    numbers = {root: number for number, root in enumerate(own)}
    alignment = [1] * len(own)
    for value, words in shifts:
        number = numbers[roots[value]]
        alignment[number] = max(alignment[number], words)
    group = tuple(numbers[root] for root in roots)
    return Groups(register, group, tuple(tuple(one) for one in own.values()), tuple(alignment))


def _adjacent(operands: Sequence[Operand], is_grouping: bool) -> Iterator[tuple[list[int], int]]:
    """The words of each wide operand and of each vector, with the alignment that they have to keep."""
    for vector in vectors(operands) if is_grouping else ():
        words = [word for element in vector.elements if isinstance(element, Register) for word in element.words]
        if len(words) > 1:
            size = 1 << (len(words) - 1).bit_length()
            yield words, size if words[0] % size == 0 else PAIR
    for operand in operands:
        for register in registers_of(operand):
            if len(register.words) > 1:
                yield list(register.words), len(register.words)
