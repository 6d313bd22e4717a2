"""Products of ``mma`` and ``wmma.mma`` (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions")."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from warpreg.ir.tensor.fragment import (
    REGISTER_BITS,
    Fragment,
    accumulator,
    left,
    quad_accumulator,
    quad_left,
    quad_right,
    right,
)

ELEMENT_BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32,
    "e4m3": 8, "e5m2": 8,
}  # fmt: skip
"""Bits of an element of each type, in a register and in memory."""

WMMA_HALF_REGISTERS = 8
"""Registers of an f16 A or B of ``wmma``, for every shape."""

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


@dataclass(frozen=True)
class MatrixProduct:
    """D = A B + C, with A of ``rows`` x ``inner`` and B of ``inner`` x ``columns`` elements.  Types are PTX's names."""

    rows: int
    columns: int
    inner: int
    a: str
    b: str
    c: str
    d: str
    wmma: bool = False
    bitwise: str = ""
    """``xor`` or ``and`` combines single bits instead of a product."""
    saturates: bool = False
    """Clamps an integer result."""
    rounding: str = "rn"
    layouts: tuple[str, str] = ("row", "col")
    """Of A and B; they matter only for ``quad_pairs``, the four products of ``m8n8k4``."""

    @property
    def quad_pairs(self) -> bool:
        """Whether quarters of the warp multiply separate matrices."""
        return not self.wmma and (self.rows, self.columns, self.inner) == (8, 8, 4) and self.a == "f16"

    @property
    def products(self) -> int:
        """Independent products of one instruction."""
        return 4 if self.quad_pairs else 1

    @functools.cached_property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """The fragments of A, B, C and D; single bits are grouped in words of 32."""
        if self.quad_pairs:
            sums = [quad_accumulator(_packed(kind)) for kind in (self.c, self.d)]
            return quad_left(self.layouts[0]), quad_right(self.layouts[1]), sums[0], sums[1]
        registers = WMMA_HALF_REGISTERS if self.wmma and self.a == "f16" else 0
        inner, packed = (self.inner // 32, 1) if self.a == "b1" else (self.inner, _packed(self.a))
        return (
            left(self.rows, inner, packed, registers),
            right(inner, self.columns, packed, registers),
            accumulator(self.rows, self.columns, _packed(self.c)),
            accumulator(self.rows, self.columns, _packed(self.d)),
        )

    def fragment(self, matrix: str) -> Fragment:
        """The fragment of ``a``, ``b``, ``c`` or ``d``."""
        return self.fragments["abcd".index(matrix)]

    def element_type(self, matrix: str) -> str:
        """The type of an element of ``a``, ``b``, ``c`` or ``d``."""
        return (self.a, self.b, self.c, self.d)["abcd".index(matrix)]

    def register_type(self, matrix: str) -> str:
        """The PTX type of a register of ``a``, ``b``, ``c`` or ``d``: ``b32`` if elements are packed."""
        element = self.element_type(matrix)
        return element if element in ("f32", "f64", "s32") else "b32"


def _packed(element: str) -> int:
    return max(1, REGISTER_BITS // ELEMENT_BITS[element])


def shape_of(modifiers: tuple[str, ...]) -> tuple[int, int, int] | None:
    """Rows, columns and inner dimension that a modifier names."""
    found = next(filter(None, map(_SHAPE.fullmatch, modifiers)), None)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@functools.cache
def product_of(opcode: str, modifiers: tuple[str, ...]) -> MatrixProduct:
    """The product of an ``mma`` or ``wmma.mma`` that has a row in the table.

    Types are written D, A, B, C; of f16 ``wmma.mma`` only D and C.
    """
    shape = shape_of(modifiers)
    assert shape is not None
    types = [m for m in modifiers if m in ELEMENT_BITS]
    d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
    layouts = [m for m in modifiers if m in ("row", "col")]
    return MatrixProduct(
        *shape,
        a,
        b,
        c,
        d,
        wmma=opcode == "wmma",
        bitwise=next((m for m in modifiers if m in ("xor", "and")), ""),
        saturates="satfinite" in modifiers,
        rounding=next((m for m in modifiers if m in ("rn", "rz", "rm", "rp")), "rn"),
        layouts=(layouts[0], layouts[1]),
    )
