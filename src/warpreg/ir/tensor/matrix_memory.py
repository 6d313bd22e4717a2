"""Matrices in memory, the operands of ``wmma.load`` and ``wmma.store`` (PTX ISA, "wmma.load", "wmma.store")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from warpreg.ir.tensor.fragment import REGISTER_BITS, Fragment
from warpreg.ir.tensor.product import ELEMENT_BITS, MatrixProduct, shape_of


@dataclass(frozen=True)
class Piece:
    """Bytes in a register of each lane from bit ``shift`` on: ``size`` bytes at byte ``offsets[lane]`` of line
    ``lines[lane]``."""

    shift: int
    size: int
    lines: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class MatrixInMemory:
    """Lines of elements of ``bits``: rows if ``by_rows``, else columns; ``stride`` is the default distance between
    lines in elements."""

    fragment: Fragment
    bits: int
    by_rows: bool
    stride: int
    loaded: bool

    def pieces(self, register: int) -> Iterator[Piece]:
        """The content of a register: one piece if its elements are adjacent in memory, else one per element."""
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
    """A type of A that is valid with the shape of an accumulator; the accumulator's fragment does not depend on it."""
    return "f64" if modifiers[-1] == "f64" else "f16"
