"""Comparisons of integers and of floating-point numbers including NaN, and selections that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from tests.opcodes import exact
from tests.opcodes.bench import Case, check
from tests.opcodes.samples import tuples

RELATIONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def on_signed(bits: int, holds: Callable[[int, int], bool], a: int, b: int) -> bool:
    x, y = (pattern - (1 << bits) if pattern >> bits - 1 else pattern for pattern in (a, b))
    return holds(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_integer_comparisons(bits: int) -> None:
    expectations: list[tuple[Case, Any]] = []
    for sources in tuples([str(bits)] * 2, lots=8):
        for name, holds in RELATIONS.items():
            expectations.append((Case(f"setp.{name}.s{bits}", sources), partial(on_signed, bits, holds)))
            expectations.append((Case(f"setp.{name}.u{bits}", sources), holds))
        for name, meaning in UNSIGNED.items():
            expectations.append((Case(f"setp.{name}.u{bits}", sources), RELATIONS[meaning]))
    check(expectations)


def float_relation(name: str, width: int, a: int, b: int) -> bool:
    unordered = exact.is_nan(a, width) or exact.is_nan(b, width)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name.endswith("u")
    limit = Fraction(2) ** 5000
    x, y = (
        limit * (-1) ** exact.sign(v, width) if exact.is_infinite(v, width) else exact.value(v, width) for v in (a, b)
    )
    return bool(RELATIONS[name.removesuffix("u")](x, y))


@pytest.mark.slow
@pytest.mark.parametrize("width", [32, 64])
def test_number_comparisons_with_and_without_unordered(width: int) -> None:
    names = [*RELATIONS, *(name + "u" for name in RELATIONS), "num", "nan"]
    expectations: list[tuple[Case, Any]] = []
    for sources in tuples([f"f{width}"] * 2, lots=12):
        for name in names:
            expectations.append((Case(f"setp.{name}.f{width}", sources), partial(float_relation, name, width)))
    check(expectations)


def test_ftz_compares_subnormals_as_zero() -> None:
    check(
        [
            (Case("setp.eq.ftz.f32", [[0x00000001] * 32, [0x807FFFFF] * 32]), lambda a, b: 1),
            (Case("setp.eq.f32", [[0x00000001] * 32, [0x807FFFFF] * 32]), lambda a, b: 0),
        ]
    )


def test_second_predicate_combines_the_inverse() -> None:
    sources = [[0, 1, 2, 3] * 8, [2] * 32, [0] * 16 + [1] * 16]
    check(
        [
            (Case("setp.lt.s32", sources[:2], results=2), lambda a, b: (int(a < b), int(a >= b))),
            (Case("setp.lt.and.s32", sources, results=2), lambda a, b, c: (int(a < b) & c, int(a >= b) & c)),
            (Case("setp.lt.or.s32", sources, results=2), lambda a, b, c: (int(a < b) | c, int(a >= b) | c)),
            (Case("setp.lt.xor.u32", sources, results=2), lambda a, b, c: (int(a < b) ^ c, int(a >= b) ^ c)),
        ]
    )


def test_set_gives_all_ones_or_one() -> None:
    sources = [[1, 2, 3, 4] * 8, [2, 2, 2, 2] * 8]
    floats = [[0x3F800000, 0x7FC00000] * 16, [0x40000000] * 32]
    check(
        [
            (Case("set.gt.u32.s32", sources), lambda a, b: 0xFFFFFFFF * (a > b)),
            (Case("set.gt.f32.s32", sources), lambda a, b: 0x3F800000 * (a > b)),
            (Case("set.lt.and.s32.f32", [*floats, [1] * 32]), lambda a, b, c: 0xFFFFFFFF * (a == 0x3F800000)),
            (Case("set.ltu.f32.f32", floats), lambda a, b: 0x3F800000),
        ]
    )


def test_selection_by_predicate_and_by_sign() -> None:
    first, second = list(range(32)), list(range(100, 132))
    signs = [0x80000000, 0, 1, 0x7FC00000] * 8
    check(
        [
            (Case("selp.b32", [first, second, [0, 1] * 16]), lambda a, b, p: a if p else b),
            (Case("selp.f64", [first, second, [0, 1] * 16]), lambda a, b, p: a if p else b),
            (Case("slct.u32.s32", [first, second, signs]), lambda a, b, c: b if c >> 31 else a),
            (Case("slct.u32.f32", [first, second, signs]), lambda a, b, c: b if c == 0x7FC00000 else a),
        ]
    )
