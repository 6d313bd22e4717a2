"""Layout of the elements of ``mma`` operands, by shape, numbered as in PTX's figures.

``place(matrix, shape, kind, layout)`` returns a function from (lane, element) to (product, row, column); ``kind`` is
the element type of the matrix.  ``group`` and ``member`` are PTX's groupID and threadID_in_group.
"""

from __future__ import annotations

from collections.abc import Callable

Shape = tuple[int, int, int]
Place = Callable[[int, int], tuple[int, int, int]]

BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32,
    "e4m3": 8, "e5m2": 8,
}  # fmt: skip


def per_register(kind: str) -> int:
    return max(1, 32 // BITS[kind])


def place(matrix: str, shape: Shape, kind: str, layout: str) -> Place:
    if shape == (8, 8, 4) and kind != "f64":
        return {"a": _volta_a, "b": _volta_b}[matrix](layout) if matrix in "ab" else _volta_sum(kind)
    if matrix == "a":
        return _a8(kind) if shape[0] == 8 else _a16(shape[2], kind)
    return _b(shape[2], kind) if matrix == "b" else _sum


def _a8(kind: str) -> Place:
    """8 rows: a single register, all of whose elements are of one row."""
    return lambda lane, i: (0, lane >> 2, (lane % 4) * per_register(kind) + i)


def _a16(inner: int, kind: str) -> Place:
    if BITS[kind] in (32, 64):

        def words(lane: int, i: int) -> tuple[int, int, int]:
            row = lane >> 2 if i % 2 == 0 else (lane >> 2) + 8
            return 0, row, lane % 4 + 4 * (i // 2)

        return words
    if BITS[kind] == 16:

        def halves(lane: int, i: int) -> tuple[int, int, int]:
            row = (lane >> 2) + (8 if i in (2, 3, 6, 7) else 0)
            return 0, row, (lane % 4) * 2 + (i & 1) + (8 if i >= 4 else 0)

        return halves
    count = per_register(kind)

    def small(lane: int, i: int) -> tuple[int, int, int]:
        register = i // count
        row = lane >> 2 if register in (0, 2) else (lane >> 2) + 8
        return 0, row, (lane % 4) * count + i % count + (inner // 2 if register >= 2 else 0)

    return small


def _b(inner: int, kind: str) -> Place:
    count = per_register(kind)
    if count == 1:
        return lambda lane, i: (0, lane % 4 + 4 * i, lane >> 2)
    if count == 2:
        return lambda lane, i: (0, (lane % 4) * 2 + (i & 1) + (8 if i >= 2 else 0), lane >> 2)
    return lambda lane, i: (0, (lane % 4) * count + i % count + (inner // 2 if i >= count else 0), lane >> 2)


def _sum(lane: int, i: int) -> tuple[int, int, int]:
    return 0, (lane >> 2) + (8 if i >= 2 else 0), (lane % 4) * 2 + (i & 1)


def _volta_a(layout: str) -> Place:
    def of_lane(lane: int, i: int) -> tuple[int, int, int]:
        product = (lane >> 2) & 3
        if layout == "row":
            return product, lane % 4 + (0 if lane < 16 else 4), i
        return product, i % 4 + (0 if lane < 16 else 4), lane % 4

    return of_lane


def _volta_b(layout: str) -> Place:
    def of_lane(lane: int, i: int) -> tuple[int, int, int]:
        product = (lane >> 2) & 3
        if layout == "row":
            return product, lane % 4, i if lane < 16 else i + 4
        return product, i, lane % 4 if lane < 16 else lane % 4 + 4

    return of_lane


def _volta_sum(kind: str) -> Place:
    def halves(lane: int, i: int) -> tuple[int, int, int]:
        return (lane >> 2) & 3, lane % 4 if lane < 16 else lane % 4 + 4, i

    def singles(lane: int, i: int) -> tuple[int, int, int]:
        x = (lane & 0b1) + (i & 0b10)
        return (lane >> 2) & 3, x if lane < 16 else x + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1)

    return halves if kind == "f16" else singles
