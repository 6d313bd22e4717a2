"""Layout of the elements of a matrix in the registers of a warp.

The layouts are those of PTX's figures for ``mma`` (PTX ISA, "Matrix Fragments for mma").  As one rule: the lanes form
eight groups of four; a group holds a row of A, a column of B and two columns in a row of C or D; the members of a group
divide the inner dimension, with as many adjacent elements each as fit a register.  Larger matrices are sequences of
tiles of 16 rows (A), 8 columns (B), or both (C, D).

PTX leaves the layout of ``wmma`` fragments open.  Here it is the same rule, which machines since sm_80 are known to
use; if PTX requires more registers than the elements fill, the registers are repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

LANES = 32
REGISTER_BITS = 32

Place = tuple[int, int, int]
"""Index of one of several independent matrices, row, column."""


@dataclass(frozen=True)
class Fragment:
    """``place(e, lane)`` is the matrix position of a lane's element e, of ``count``; ``packed`` elements share a
    register, the first in its lowest bits.  ``registers`` is the number of the operand's registers; after the elements
    they repeat from the first.
    """

    count: int
    packed: int
    place: Callable[[int, int], Place]
    registers: int

    @cached_property
    def elements(self) -> tuple[tuple[Place, ...], ...]:
        """The matrix positions by element and lane."""
        return tuple(tuple(self.place(element, lane) for lane in range(LANES)) for element in range(self.count))

    @property
    def distinct(self) -> int:
        """Registers until the first repetition."""
        return self.count // self.packed

    def holders(self) -> Iterator[tuple[Place, int, int]]:
        """Each matrix position with an element and a lane that hold it."""
        for element, lanes in enumerate(self.elements):
            for lane, place in enumerate(lanes):
                yield place, element, lane


def _fragment(count: int, packed: int, place: Callable[[int, int], Place], registers: int = 0) -> Fragment:
    return Fragment(count, packed, place, registers or count // packed)


def left(rows: int, inner: int, packed: int, registers: int = 0) -> Fragment:
    """A of ``rows`` x ``inner``: 8 rows, or tiles of 16 rows whose registers alternate between upper and lower half."""
    halves = 1 if rows == 8 else 2
    place = partial(_in_left, halves, inner // (4 * packed), packed)
    return _fragment(rows * inner // LANES, packed, place, registers)


def _in_left(halves: int, chunks: int, packed: int, element: int, lane: int) -> Place:
    register, part = divmod(element, packed)
    tile, within = divmod(register, halves * chunks)
    row = tile * 16 + within % halves * 8 + lane // 4
    return 0, row, within // halves * 4 * packed + lane % 4 * packed + part


def right(inner: int, columns: int, packed: int, registers: int = 0) -> Fragment:
    """B of ``inner`` x ``columns``, by tiles of 8 columns."""
    return _fragment(inner * columns // LANES, packed, partial(_in_right, inner // (4 * packed), packed), registers)


def _in_right(chunks: int, packed: int, element: int, lane: int) -> Place:
    register, part = divmod(element, packed)
    tile, chunk = divmod(register, chunks)
    return 0, chunk * 4 * packed + lane % 4 * packed + part, tile * 8 + lane // 4


def accumulator(rows: int, columns: int, packed: int) -> Fragment:
    """C or D, by tiles of 8 columns and 16 rows, or 8 if there are no more: two neighbours of a row, then eight rows
    below."""
    halves = 1 if rows == 8 else 2
    return _fragment(rows * columns // LANES, packed, partial(_in_accumulator, halves, columns // 8))


def _in_accumulator(halves: int, column_tiles: int, element: int, lane: int) -> Place:
    tile, within = divmod(element, 2 * halves)
    row_tile, column_tile = divmod(tile, column_tiles)
    row = row_tile * 16 + within // 2 * 8 + lane // 4
    return 0, row, column_tile * 8 + lane % 4 * 2 + within % 2


def quad_left(layout: str) -> Fragment:
    """A of the four 8 x 8 x 4 products of f16 ``mma.m8n8k4``."""
    return _fragment(4, 2, partial(_in_quad_left, layout == "row"))


def _in_quad_left(by_rows: bool, element: int, lane: int) -> Place:
    product, member, upper = _quad_pair(lane)
    row, column = (member, element) if by_rows else (element, member)
    return product, row + 4 * upper, column


def quad_right(layout: str) -> Fragment:
    """B of the four products of ``mma.m8n8k4``."""
    return _fragment(4, 2, partial(_in_quad_right, layout == "row"))


def _in_quad_right(by_rows: bool, element: int, lane: int) -> Place:
    product, member, upper = _quad_pair(lane)
    row, column = (member, element) if by_rows else (element, member)
    return product, row, column + 4 * upper


def quad_accumulator(packed: int) -> Fragment:
    """C or D of the four products: one row per lane as f16 (``packed`` is 2), 2 x 2 squares as f32."""
    return _fragment(8, packed, _in_quad_rows if packed == 2 else _in_quad_squares)


def _in_quad_rows(element: int, lane: int) -> Place:
    product, member, upper = _quad_pair(lane)
    return product, member + 4 * upper, element


def _in_quad_squares(element: int, lane: int) -> Place:
    product, member, upper = _quad_pair(lane)
    return product, (member & 1) + (element & 2) + 4 * upper, (element & 4) + (member & 2) + (element & 1)


def _quad_pair(lane: int) -> tuple[int, int, int]:
    """For ``mma.m8n8k4``: the index of the product, the lane in its quad, and whether it is an upper quad."""
    return lane % 16 // 4, lane % 4, lane // 16
