"""Allocation units: values that are allocated together (aligned pairs, vector groups, coalesced moves).

A unit is a sequence of 32-bit words.  Each member (a cell) has a word offset in it; each word has the union of its
members' live ranges.  Coalescing merges the units of a move's two sides if no word would hold two live values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from warpreg.analysis.accesses import Cells, accesses
from warpreg.analysis.loops import loops
from warpreg.codegen.regalloc.live_ranges import Range, live_ranges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import AddressTuple, Operand, Pair, Register, Vector

MAX_WORDS = 8


@dataclass(eq=False, slots=True)
class Unit:
    """``words`` maps offsets to live ranges; ``alignments`` lists offsets with the multiple that they must fall on."""

    words: dict[int, Range]
    members: list[tuple[int, int]]
    alignments: list[tuple[int, int]]
    weight: float = 0.0

    @property
    def size(self) -> int:
        return max(self.words) + 1

    @property
    def alignment(self) -> int:
        return max((a for _, a in self.alignments), default=1)

    @property
    def start(self) -> int:
        """The first program point at which some word is live."""
        return min(live.first for live in self.words.values())

    def can_take(self, other: Unit, shift: int) -> bool:
        """Whether ``other``, shifted by ``shift`` words, can be merged without interference or misalignment."""
        if shift < 0 or max(other.size + shift, self.size) > MAX_WORDS:
            return False
        if any((offset + shift) % alignment for offset, alignment in other.alignments):
            return False
        here = self.words
        return not any(o + shift in here and here[o + shift].meets(live) for o, live in other.words.items())

    def take(self, other: Unit, shift: int) -> None:
        """Merge ``other`` into this unit."""
        for offset, live in other.words.items():
            held = self.words.get(offset + shift)
            self.words[offset + shift] = held | live if held else live
        self.members += [(cell, offset + shift) for cell, offset in other.members]
        self.alignments += [(offset + shift, alignment) for offset, alignment in other.alignments]
        self.weight += other.weight


@dataclass
class Units:
    """The units of one register file; ``at[cell]`` gives a cell's unit and offset."""

    at: dict[int, tuple[Unit, int]] = field(default_factory=dict)

    def all(self) -> list[Unit]:
        return list({id(unit): unit for unit, _ in self.at.values()}.values())

    def join(self, cell: int, other: int, distance: int) -> bool:
        """Place ``other`` ``distance`` words above ``cell`` if possible; returns whether it is there."""
        unit, offset = self.at[cell]
        added, place = self.at[other]
        shift = offset + distance - place
        if unit is added:
            return shift == 0
        if unit.can_take(added, shift):
            self._merge(unit, added, shift)
            return True
        if added.can_take(unit, -shift):
            self._merge(added, unit, -shift)
            return True
        return False

    def _merge(self, unit: Unit, added: Unit, shift: int) -> None:
        unit.take(added, shift)
        for cell, place in added.members:
            self.at[cell] = (unit, place + shift)


def predicate_units(kernel: Kernel) -> Units:
    """One unit per predicate, moves coalesced."""
    units = _single(kernel, lambda register: register.is_predicate)
    _coalesce(kernel, units)
    return units


def uniform_units(kernel: Kernel, names: frozenset[str]) -> Units:
    """One unit per uniform register."""
    return _single(kernel, lambda register: register.name in names)


def register_units(kernel: Kernel, uniform: frozenset[str] = frozenset()) -> Units:
    """Units of all other registers: vector groups first, then coalesced moves, those in inner loops before others."""
    units = _single(kernel, lambda register: not register.is_predicate and register.name not in uniform)
    cells = accesses(kernel).cells
    for instruction in kernel.instructions():
        for group in vector_groups(instruction):
            for elements in _pairs(group) if instruction.traits.fetches_channels else (group,):
                _group(units, elements, cells)
    _coalesce(kernel, units)
    return units


def is_grouping(instruction: Instruction) -> bool:
    """Whether its brace lists are in consecutive registers: elements of memory, coordinates and channels."""
    return instruction.traits.accesses_elements or instruction.traits.is_texture


def vector_groups(instruction: Instruction) -> Iterator[tuple[Operand, ...]]:
    """The brace lists of a memory or texture instruction whose elements are whole registers."""
    if is_grouping(instruction):
        in_memory = instruction.traits.accesses_elements
        for vector in vectors(instruction.operands):
            if element_words(vector.elements) and (in_memory or _registers(vector) > 1):
                yield vector.elements


def vectors(operands: Iterable[Operand]) -> Iterator[Vector]:
    """The brace lists in some operands, those of a texture operand or a pair of results included."""
    for operand in operands:
        if isinstance(operand, Vector):
            yield operand
        elif isinstance(operand, Pair):
            yield from vectors((operand.first,))
        elif isinstance(operand, AddressTuple):
            yield from vectors(operand.elements)


def _registers(vector: Vector) -> int:
    return sum(isinstance(e, Register) for e in vector.elements)


def element_words(elements: tuple[Operand, ...]) -> int:
    """Words of each element of a brace list; 0 where elements are narrower than a register."""
    return min((e.type.bits // 32 for e in elements if isinstance(e, Register)), default=0)


def _pairs(elements: tuple[Operand, ...]) -> Iterator[tuple[Operand, ...]]:
    """The registers of a brace list in pairs."""
    registers = [e for e in elements if isinstance(e, Register)]
    yield from (tuple(registers[i : i + 2]) for i in range(0, len(registers) - 1, 2))


def _group(units: Units, elements: tuple[Operand, ...], cells: Cells) -> None:
    """One unit for a brace list; its registers are still single, or already in this arrangement (`IsolateVectors`)."""
    words = element_words(elements)
    placed = [(i * words, cells.of(e)[0]) for i, e in enumerate(elements) if isinstance(e, Register)]
    if len(units.at[placed[0][1]][0].members) > 1:
        return
    size = words * len(elements)
    group = Unit({}, [], [(0, 1 << (size - 1).bit_length())])
    for offset, cell in placed:
        group.take(units.at[cell][0], offset)
        units.at[cell] = (group, offset)


def _single(kernel: Kernel, takes: Callable[[Register], bool]) -> Units:
    cells, ranges = accesses(kernel).cells, live_ranges(kernel)
    weights = _weights(kernel)
    units = Units()
    for cell, register in enumerate(cells.registers):
        if takes(register):
            words = max(1, register.type.words)
            live = dict.fromkeys(range(words), ranges[cell])
            units.at[cell] = (Unit(live, [(cell, 0)], [(0, words)] if words > 1 else [], weights[cell]), 0)
    return units


def _weights(kernel: Kernel) -> list[float]:
    """The spill cost of each cell: its accesses, each weighted by ten to the power of its loop depth."""
    table, forest = accesses(kernel), loops(kernel)
    weights = [0.0] * len(table.cells)
    for block in kernel.blocks:
        cost = 10.0 ** min(forest.depth(block.index), 6)
        for pc in table.block_pcs(block.index):
            for cell in (*table.read[pc], *table.written[pc]):
                weights[cell] += cost
    return weights


def _coalesce(kernel: Kernel, units: Units) -> None:
    cells, forest = accesses(kernel).cells, loops(kernel)
    moves = [
        (-forest.depth(block.index), instruction)
        for block in kernel.blocks
        for instruction in block.instructions
        if instruction.opcode == "mov" and not instruction.guard
    ]
    for _, move in sorted(moves, key=lambda m: m[0]):
        for target, source, distance in copied_words(move):
            one, other = cells.of(target)[0], cells.of(source)[0]
            if one in units.at and other in units.at:
                units.join(one, other, distance)


def copied_words(move: Instruction) -> Iterator[tuple[Register, Register, int]]:
    """``(target, source, distance)``: the move is redundant if ``source`` is ``distance`` words above ``target``."""
    if move.opcode != "mov" or len(move.operands) != 2:
        return
    target, source = move.operands
    if isinstance(target, Register) and isinstance(source, Register):
        if target.type.words == source.type.words and target.is_predicate == source.is_predicate:
            yield target, source, 0
    elif isinstance(target, Vector) and isinstance(source, Register):
        if element_words(target.elements) == 1:
            yield from ((e, source, -i) for i, e in enumerate(target.elements) if isinstance(e, Register))
    elif isinstance(target, Register) and isinstance(source, Vector) and element_words(source.elements) == 1:
        yield from ((target, e, i) for i, e in enumerate(source.elements) if isinstance(e, Register))
