"""Matrices in memory, as ``wmma.load`` and ``wmma.store`` name them (PTX ISA, "wmma.load", "wmma.store")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from warpreg.ir.tensor.fragment import REGISTER_BITS, Fragment
from warpreg.ir.tensor.product import ELEMENT_BITS, MatrixProduct, shape_of


@dataclass(frozen=True)
class Piece:
    """Bytes that a register of each lane holds from bit ``shift`` on: ``size`` bytes at byte ``offsets[lane]`` of line
    ``lines[lane]``."""

    shift: int
    size: int
    lines: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class MatrixInMemory:
    """Lines of elements of ``bits``, which are rows if ``by_rows`` and else columns; ``stride`` elements lie between
    the beginnings of lines unless the instruction says otherwise."""

    fragment: Fragment
    bits: int
    by_rows: bool
    stride: int
    loaded: bool

    def pieces(self, register: int) -> Iterator[Piece]:
        """What a register holds: one piece if its elements are neighbours in memory, else one an element."""
        packed = self.fragment.packed
        elements = [self._line_and_position(e) for e in range(register * packed, (register + 1) * packed)]
        if self.bits < 8 or all(_follows(a, b) for a, b in pairwise(elements)):
            elements = elements[:1]
        size = max(REGISTER_BITS, self.bits) // 8 // len(elements)
        for index, places in enumerate(elements):
            lines, positions = zip(*places, strict=True)
            words = self.bits == 1
            offsets = tuple(p * 4 if words else p * self.bits // 8 for p in positions)
            yield Piece(index * self.bits, size, lines, offsets)

    def _line_and_position(self, element: int) -> list[tuple[int, int]]:
        places = ((row, column) for _, row, column in self.fragment.elements[element])
        return [place if self.by_rows else (place[1], place[0]) for place in places]


def _follows(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> bool:
    return all((line, position + 1) == after for (line, position), after in zip(first, second, strict=True))


def matrix_in_memory(modifiers: tuple[str, ...]) -> MatrixInMemory:
    """The matrix of a ``wmma.load`` or ``wmma.store`` that has a row in the table."""
    action, name = modifiers[:2]
    shape = shape_of(modifiers)
    assert shape is not None
    rows, columns, inner = shape
    element = modifiers[-1]
    a, d = (element, "f32") if name in "ab" else (_multiplied(modifiers), element)
    product = MatrixProduct(rows, columns, inner, a, a, d, d, wmma=True)
    by_rows = "row" in modifiers
    extent = {"a": (rows, inner), "b": (inner, columns)}.get(name, (rows, columns))
    return MatrixInMemory(
        product.fragment(name), ELEMENT_BITS[element], by_rows, extent[1] if by_rows else extent[0], action == "load"
    )


def _multiplied(modifiers: tuple[str, ...]) -> str:
    """A type of A that goes with the shape of an accumulator, on which its fragment does not depend."""
    return "f64" if modifiers[-1] == "f64" else "f16"
