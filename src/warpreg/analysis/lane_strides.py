"""How far apart the lanes of a value are likely to be: a guess, which may be wrong.

Lanes follow each other in x, every instruction runs for all of them, and no number passes the end of its range.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from warpreg.analysis.accesses import accesses
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.reconvergence import reconvergence
from warpreg.analysis.values import values_by_call
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Address, Immediate, Operand, Special, registers_of

Stride = int | None
"""The difference of neighbouring lanes; None: it is not the same everywhere."""

FOLLOWING = frozenset({"%tid.x", "%laneid"})
"""Special registers that are greater by one in the next lane; others are equal in all lanes."""


@cached_analysis
def lane_strides(kernel: Kernel) -> LaneStrides:
    """Those of a kernel."""
    return LaneStrides(kernel)


class LaneStrides:
    """The strides of the values of a kernel, and the numbers of those that are constant."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._values, self._cells = kernel, values_by_call(kernel), accesses(kernel).cells
        self._strides: dict[int, Stride] = {}
        self._data: set[int] = set()
        self._constants: dict[int, int] = {}
        instructions = list(enumerate(kernel.instructions()))
        for pc, instruction in instructions:
            if RULES.get(instruction.opcode) is _copy and isinstance(instruction.sources[0], Immediate):
                self._constants.update(dict.fromkeys(self._values.written[pc], instruction.sources[0].value))
        changed = True
        while changed:
            changed = False
            for pc, instruction in instructions:
                changed |= self._join(pc, instruction)

    def first_source(self, pc: int, instruction: Instruction) -> Stride:
        """That of the first source of an instruction, such as an address."""
        given = self.given(pc, instruction)
        return given[0] if given else None

    @functools.cached_property
    def parted_blocks(self) -> frozenset[int]:
        """The blocks that lanes are likely to enter apart: behind a branch that depends on data, until they meet."""
        found: set[int] = set()
        meetings = reconvergence(self._kernel)
        for block, first_pc in zip(self._kernel.blocks, self._kernel.first_pcs(), strict=False):
            if self._depends_on_data(block, first_pc):
                pending = [*block.successors]
                while pending:
                    one = pending.pop()
                    if one not in found and one != meetings[block.index]:
                        found.add(one)
                        pending += self._kernel.blocks[one].successors
        return frozenset(found)

    def _depends_on_data(self, block: Block, first_pc: int) -> bool:
        """Whether a block ends in a branch whose guard depends on what lanes have loaded."""
        return len(set(block.successors)) > 1 and not self.foresees_guard(first_pc + len(block.instructions) - 1)

    def foresees_guard(self, pc: int) -> bool:
        """Whether the guard of an instruction, which has one, depends on nothing that lanes have loaded."""
        return bool(self._values.read[pc]) and self._values.read[pc][-1] not in self._data

    def _join(self, pc: int, instruction: Instruction) -> bool:
        """Find the stride of what an instruction defines; returns whether something has changed."""
        given, changed = self.given(pc, instruction), False
        if given is None:
            return False
        found = self._stride(pc, instruction, given)
        written, exchanges = self._values.written[pc], instruction.traits.has_effect or instruction.traits.loads
        if self._data.intersection(self._values.read[pc]) or (exchanges and found is None):
            changed = not self._data.issuperset(written)
            self._data.update(written)
        for value in written:
            joined = found if self._strides.get(value, found) == found else None
            changed |= value not in self._strides or self._strides[value] != joined
            self._strides[value] = joined
        return changed

    def given(self, pc: int, instruction: Instruction) -> list[Stride] | None:
        """The strides of the sources; None while one is not known yet."""
        given = list[Stride]()
        for operand, value in self._sources(pc, instruction):
            if value is not None and value not in self._strides:
                return None
            following = isinstance(operand, Special) and operand.name in FOLLOWING
            given.append(int(following) if value is None else self._strides[value])
        return given

    def _sources(self, pc: int, instruction: Instruction) -> Iterator[tuple[Operand, int | None]]:
        """Each source, and the value of its register."""
        words = iter(self._values.read[pc])
        for operand in instruction.sources:
            value = None
            for register in registers_of(operand):
                (value, *_) = (next(words) for _ in self._cells.of(register))
            yield operand, value

    def _stride(self, pc: int, instruction: Instruction, given: list[Stride]) -> Stride:
        """The stride of a result."""
        strides = [one for one in given if one is not None]
        if len(strides) < len(given):
            return None
        if not any(strides):
            return 0
        if instruction.traits.has_effect or isinstance(instruction.sources[0], Address):
            return None
        rule = RULES.get(instruction.opcode)
        if rule is None or "hi" in instruction.modifiers:
            return None
        numbers = [
            operand.value if isinstance(operand, Immediate) else self._constants.get(-1 if value is None else value)
            for operand, value in self._sources(pc, instruction)
        ]
        return rule(strides, numbers)


def _copy(strides: list[int], numbers: list[int | None]) -> Stride:
    return strides[0]


def _sum(strides: list[int], numbers: list[int | None]) -> Stride:
    return sum(strides)


def _difference(strides: list[int], numbers: list[int | None]) -> Stride:
    return strides[0] - strides[1]


def _negative(strides: list[int], numbers: list[int | None]) -> Stride:
    return -strides[0]


def _bound(strides: list[int], numbers: list[int | None]) -> Stride:
    """Of a value and a bound that all lanes have."""
    return sum(strides) if 0 in strides else None


def _shift(strides: list[int], numbers: list[int | None]) -> Stride:
    return None if numbers[1] is None else strides[0] << numbers[1]


def _product(strides: list[int], numbers: list[int | None]) -> Stride:
    """Of a product, and a sum with it."""
    added = sum(strides[2:])
    if strides[:2] == [0, 0]:
        return added
    moved, other = (0, 1) if strides[0] else (1, 0)
    factor = numbers[other]
    return None if factor is None or strides[other] else strides[moved] * factor + added


RULES: dict[str, Callable[[list[int], list[int | None]], Stride]] = {
    "mov": _copy,
    "cvt": _copy,
    "cvta": _copy,
    "add": _sum,
    "add3": _sum,
    "sub": _difference,
    "neg": _negative,
    "min": _bound,
    "max": _bound,
    "shl": _shift,
    "mul": _product,
    "mad": _product,
}
"""The stride of a result by opcode, from the strides of the sources and the numbers of those that are constant."""
