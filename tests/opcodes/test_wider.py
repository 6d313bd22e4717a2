"""Packed pairs, dot products of halves, bit searches, and reductions, matches and elections across lanes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.opcodes import exact
from tests.opcodes.bench import LANES, Case, check, run
from tests.opcodes.samples import chunked, tuples
from tests.opcodes.test_floating import extremum

from warpreg.ir.operands import Immediate


def signed(bits: int, x: int) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def by_halves(function: Callable[..., int], width: int, *operands: int) -> int:
    mask = (1 << width) - 1
    low, high = (function(*(a >> at & mask for a in operands)) & mask for at in (0, width))
    return low | high << width


def test_pairs_of_single_precision_round_each_element() -> None:
    expectations: list[tuple[Case, Any]] = []
    functions = {"add": (2, exact.add), "mul": (2, exact.multiply), "fma": (3, exact.fma)}
    for name, (count, function) in functions.items():
        low, high = tuples(["f32"] * count, lots=6), tuples(["f32"] * count, lots=6, seed=9)
        for first, second in zip(low, high, strict=True):
            pairs = [[a | b << 32 for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)]
            for mode in ("rn", "rz"):
                expected = partial(by_halves, lambda *x, f=function, m=mode: f(*x, 32, m), 32)
                expectations.append((Case(f"{name}.{mode}.f32x2", pairs), expected))
    check(expectations)


def test_pairs_of_integers_wrap_saturate_and_compare() -> None:
    def clamp(x: int, low: int, high: int) -> int:
        return max(low, min(high, x))

    functions: dict[str, Callable[[int, int], int]] = {
        "add.u16x2": lambda a, b: a + b,
        "sub.s16x2": lambda a, b: a - b,
        "add.sat.u16x2": lambda a, b: min(a + b, 0xFFFF),
        "sub.sat.u16x2": lambda a, b: max(a - b, 0),
        "add.sat.s16x2": lambda a, b: clamp(signed(16, a) + signed(16, b), -0x8000, 0x7FFF),
        "min.u16x2": min,
        "max.s16x2": lambda a, b: max(signed(16, a), signed(16, b)),
        "min.relu.s16x2": lambda a, b: max(0, min(signed(16, a), signed(16, b))),
    }
    lots = tuples(["32", "32"], lots=4)
    expectations: list[tuple[Case, Any]] = [
        (Case(name, lot), partial(by_halves, function, 16)) for name, function in functions.items() for lot in lots
    ]
    relu = [(Case("max.relu.s32", lot), lambda a, b: max(0, signed(32, a), signed(32, b))) for lot in lots]
    check(expectations + relu)


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremum_of_three(name: str) -> None:
    def expected(modifiers: str, a: int, b: int, c: int) -> int:
        if "abs" in modifiers:
            a, b, c = (x & 0x7FFFFFFF for x in (a, b, c))
        if "NaN" in modifiers and any(exact.is_nan(x, 32) for x in (a, b, c)):
            return exact.NAN[32]
        return extremum(name, 32, extremum(name, 32, a, b), c)

    check(
        [
            (Case(f"{name}{modifiers}.f32", lot), partial(expected, modifiers))
            for modifiers in ("", ".NaN", ".abs", ".NaN.abs")
            for lot in tuples(["f32"] * 3, lots=8)
        ]
    )


def dot(half: str, a_kind: str, b_kind: str, a: int, b: int, c: int) -> int:
    total, first = c, 16 if half == "hi" else 0
    for i in range(2):
        x, y = a >> 16 * i & 0xFFFF, b >> first + 8 * i & 0xFF
        total += (signed(16, x) if a_kind == "s32" else x) * (signed(8, y) if b_kind == "s32" else y)
    return total & 0xFFFFFFFF


def test_dot_product_of_halves_with_bytes() -> None:
    check(
        [
            (Case(f"dp2a.{half}.{a}.{b}", lot), partial(dot, half, a, b))
            for half in ("lo", "hi")
            for a in ("u32", "s32")
            for b in ("u32", "s32")
            for lot in tuples(["32"] * 3, lots=2)
        ]
    )


def nth_set(mask: int, base: int, offset: int) -> int:
    """The search of the PTX manual (fns), one position after the other."""
    offset = signed(32, offset)
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += step
    return 0xFFFFFFFF


def test_find_nth_set() -> None:
    source = random.Random(2)
    rows = [
        (source.getrandbits(32) & source.getrandbits(32), source.randrange(34), source.randint(-6, 6) & 0xFFFFFFFF)
        for _ in range(8 * LANES)
    ]
    rows += [(0xFFFFFFFF, 31, 1), (0xFFFFFFFF, 31, 0xFFFFFFFF), (1, 31, 0xFFFFFFFF), (0, 0, 1), (0xFFFFFFFF, 0, 32)]
    check([(Case("fns.b32", lot), nth_set) for lot in chunked(list(zip(*rows, strict=True)))])


def test_extension_of_a_field() -> None:
    def expected(mode: str, kind: str, a: int, n: int) -> int:
        n = n & 31 if mode == "wrap" else min(n, 32)
        low = a & (1 << n) - 1
        return low | -(1 << n) & 0xFFFFFFFF if n and kind == "s32" and low >> n - 1 else low

    counts = [0, 1, 2, 7, 8, 16, 31, 32, 33, 63, 64, 255, 0xFFFFFFFF, 5, 9, 30] * 2
    check(
        [
            (Case(f"szext.{mode}.{kind}", [lot[0], counts]), partial(expected, mode, kind))
            for mode in ("clamp", "wrap")
            for kind in ("u32", "s32")
            for lot in tuples(["32"], lots=4)
        ]
    )


def test_lop3_tells_whether_a_bit_is_set() -> None:
    a, q = [0, 5] * 16, [0, 0, 1, 1] * 8
    xor = Immediate(0x96)
    check(
        [
            (
                Case(f"lop3.{name}.b32", [a, [5] * 32, [0] * 32, xor, q], results=2),
                lambda x, y, z, t, p, f=f: (x ^ y ^ z, f(bool(x ^ y ^ z), p)),
            )
            for name, f in (("or", lambda s, p: s | p), ("and", lambda s, p: s & p))
        ]
    )


ALL = Immediate(0xFFFFFFFF)


def together(values: list[int], active: int, members: list[int]) -> list[list[int]]:
    """For each lane, the values of its active members."""
    return [[values[i] for i in range(LANES) if active & members[lane] & 1 << i] for lane in range(LANES)]


@pytest.mark.parametrize("active", [0xFFFFFFFF, 0x0FF0F00F])
def test_reductions(active: int) -> None:
    source = random.Random(6)
    values = [source.getrandbits(32) for _ in range(LANES)]
    members = [0x0000FFFF if lane < 16 else 0xFFFF0000 for lane in range(LANES)]
    functions: dict[str, Callable[[list[int]], int]] = {
        "add.u32": sum,
        "min.u32": min,
        "max.u32": max,
        "min.s32": lambda xs: min(xs, key=partial(signed, 32)),
        "max.s32": lambda xs: max(xs, key=partial(signed, 32)),
        "and.b32": lambda xs: _folded(int.__and__, xs),
        "or.b32": lambda xs: _folded(int.__or__, xs),
        "xor.b32": lambda xs: _folded(int.__xor__, xs),
    }
    cases = {name: Case(f"redux.sync.{name}", [values, members], active=active) for name in functions}
    run(list(cases.values()))
    groups = together(values, active, members)
    for name, case in cases.items():
        for lane in range(LANES):
            if active >> lane & 1:
                assert case.outcome[0][lane] == functions[name](groups[lane]) & 0xFFFFFFFF, (name, lane)


def _folded(function: Callable[[int, int], int], values: list[int]) -> int:
    total = values[0]
    for value in values[1:]:
        total = function(total, value)
    return total


def test_reductions_of_numbers() -> None:
    values = [0x3F800000 + lane * 0x1000 for lane in range(LANES)]
    values[3], values[5] = 0xC0000000, 0x7FC00000
    found = {"min": 0xC0000000, "max": values[31], "min.abs": values[0], "max.abs": 0x40000000, "min.NaN": 0x7FFFFFFF}
    check([(Case(f"redux.sync.{name}.f32", [values, ALL]), lambda a, m, x=x: x) for name, x in found.items()])


@pytest.mark.parametrize("bits", [32, 64])
def test_match(bits: int) -> None:
    values = [lane // 3 << bits - 8 for lane in range(LANES)]
    active, members = 0x7FFFFFFE, 0xFFFFFF0F
    some = Case(f"match.any.sync.b{bits}", [values, [members] * LANES], active=active)
    differ = Case(f"match.all.sync.b{bits}", [values, [members] * LANES], results=2, active=active)
    same = Case(f"match.all.sync.b{bits}", [[7] * LANES, [members] * LANES], results=2, active=active)
    run([some, differ, same])
    for lane in range(1, 31):
        equal = sum(1 << i for i in range(LANES) if values[i] == values[lane])
        assert some.outcome[0][lane] == equal & active & members
        assert (differ.outcome[0][lane], differ.outcome[1][lane]) == (0, 0)
        assert (same.outcome[0][lane], same.outcome[1][lane]) == (active & members, 1)


def test_the_lowest_active_member_is_elected() -> None:
    case = Case("elect.sync", [ALL], results=2, active=0xFFFFFFF8)
    run([case])
    assert case.outcome[0][3:] == [3] * 29
    assert case.outcome[1][3:] == [1] + [0] * 28
