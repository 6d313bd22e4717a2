"""PTX of kernels of any size: an unrolled matrix product on tensor cores, a straight line, and branches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

NAME = "large"
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry large(.param .u64 a, .param .u64 b, .param .u64 c)
{
.reg .pred %p; .reg .b32 %t, %r<99999>; .reg .f32 %f<99999>; .reg .b64 %a, %b, %c, %o;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;
add.s64 %a, %a, %o; add.s64 %b, %b, %o; add.s64 %c, %c, %o;
"""
ROWS, COLUMNS = 4, 8
"""Tiles of 16 x 8 results of the matrix product of one warp."""
LIVE = 64
"""Values of the straight line that are live at any point."""
PART = 10
"""Instructions that a branch leaves out."""


def large_ptx(shape: str, instructions: int) -> str:
    """The kernel of a shape with about so many instructions."""
    return HEAD + "\n".join(SHAPES[shape](instructions)) + "\nret;\n}\n"


def _product(instructions: int) -> Iterator[str]:
    """Tiles of 16 x 8 x 16: each step along k loads 4 tiles of A and 8 of B, and has 32 products."""
    words, sums = (itertools.count(1) for _ in range(2))
    tiles = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
    held = {tile: [next(sums) for _ in range(4)] for tile in tiles}
    yield from (f"mov.f32 %f{f}, 0f00000000;" for of in held.values() for f in of)
    for step in range(max(1, instructions // (len(tiles) + 4 * ROWS + 2 * COLUMNS))):
        left = [[next(words) for _ in range(4)] for _ in range(ROWS)]
        right = [[next(words) for _ in range(2)] for _ in range(COLUMNS)]
        for base, of in (("%a", left), ("%b", right)):
            loaded = [r for tile in of for r in tile]
            first = step * len(loaded)
            yield from (f"ld.global.u32 %r{r}, [{base}+{128 * (first + n)}];" for n, r in enumerate(loaded))
        for i, j in tiles:
            before, held[i, j] = held[i, j], [next(sums) for _ in range(4)]
            operands = (("f", held[i, j]), ("r", left[i]), ("r", right[j]), ("f", before))
            listed = ", ".join(_braces(kind, numbers) for kind, numbers in operands)
            yield f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {listed};"
    yield from _stored(f for of in held.values() for f in of)


def _straight(instructions: int) -> Iterator[str]:
    """Multiply-adds of earlier values."""
    choose = random.Random(0)
    yield from (f"ld.global.f32 %f{i}, [%a+{128 * i}];" for i in range(LIVE))
    live = list(range(LIVE))
    for new in range(LIVE, max(LIVE, instructions - LIVE)):
        sources = ", ".join(f"%f{live[choose.randrange(LIVE)]}" for _ in range(3))
        live[choose.randrange(LIVE)] = new
        yield f"fma.rn.f32 %f{new}, {sources};"
    yield from _stored(live)


def _branches(instructions: int) -> Iterator[str]:
    """Multiply-adds on sixteen values, in parts that threads leave out."""
    choose = random.Random(0)
    yield from (f"ld.global.f32 %f{i}, [%a+{128 * i}];" for i in range(16))
    for part in range(instructions // (PART + 2)):
        yield f"setp.lt.f32 %p, %f{part % 16}, 0f3F800000; @%p bra B{part};"
        for _ in range(PART):
            d, a, b = (choose.randrange(16) for _ in range(3))
            yield f"fma.rn.f32 %f{d}, %f{a}, %f{b}, %f{d};"
        yield f"B{part}:"
    yield from _stored(range(16))


def _braces(kind: str, numbers: Sequence[int]) -> str:
    return "{" + ", ".join(f"%{kind}{n}" for n in numbers) + "}"


def _stored(values: Iterator[int] | Sequence[int]) -> Iterator[str]:
    return (f"st.global.f32 [%c+{128 * n}], %f{f};" for n, f in enumerate(values))


SHAPES: Mapping[str, Callable[[int], Iterator[str]]] = {
    "matrix product": _product,
    "straight line": _straight,
    "branches": _branches,
}
