"""Video instructions: parts of words, clamping, merging and accumulation, by the pseudocode of the PTX manual."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.opcodes.bench import LANES, Case, check

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
}
RELATIONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
TYPES = ("u32", "s32")
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FF00FF, 0x80808080)


def words(count: int, seed: int = 0) -> list[list[int]]:
    source = random.Random(seed)
    return [
        [source.choice(EDGES) if source.random() < 0.5 else source.getrandbits(32) for _ in range(LANES)]
        for _ in range(count)
    ]


def number(bits: int, width: int, kind: str) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if kind == "s32" and bits >> width - 1 else bits


def place(selector: str) -> tuple[int, int]:
    width = {"": 32, "b": 8, "h": 16}[selector[:1]]
    return (int(selector[1:]) * width if selector else 0), width


def part(a: int, selector: str, kind: str) -> int:
    at, width = place(selector)
    return number(a >> at, width, kind)


SECOND: dict[str, Callable[[int, int], int]] = {"add": lambda p, q: p + q, "min": min, "max": max}


def clamp(x: int, width: int, kind: str) -> int:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "s32" else (0, (1 << width) - 1)
    return max(low, min(high, x))


def finish(x: int, kind: str, sat: bool, destination: str, second: str, c: int | None) -> int:
    at, width = place(destination)
    if sat:
        x = clamp(x, width, kind)
    if second:
        assert c is not None
        x = x + (1 << 32) & (1 << 33) - 1
        x -= 1 << 32
        x = SECOND[second](x, number(c, 32, kind))
    elif destination:
        assert c is not None
        mask = (1 << width) - 1 << at
        x = (c & ~mask) | (x << at & mask)
    return x & 0xFFFFFFFF


SHAPES = [("", "", "", ""), ("", "b1", "h1", ""), ("", "", "", "add"), ("", "", "", "min"), ("", "h0", "b3", "max"),
          ("b2", "", "b0", ""), ("h1", "", "", "")]  # fmt: skip
"""Destination, two source parts, secondary operation."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax"])
def test_scalar(name: str) -> None:
    expectations: list[tuple[Case, Any]] = []
    shapes = itertools.product(TYPES, TYPES, TYPES, (False, True), SHAPES)
    for seed, (d, a, b, sat, (destination, first, second, extra)) in enumerate(shapes):

        def expected(
            x: int, y: int, z: int | None = None, *, d: str = d, a: str = a, b: str = b, sat: bool = sat,
            to: str = destination, p: str = first, q: str = second, extra: str = extra,
        ) -> int:  # fmt: skip
            return finish(OPERATIONS[name](part(x, p, a), part(y, q, b)), d, sat, to, extra, z)

        count = 3 if destination or extra else 2
        text = f"{name}.{d}.{a}.{b}" + ".sat" * sat + (f".{extra}" if extra else "")
        expectations.append((Case(text, words(count, seed), parts=(destination, first, second)), expected))
    check(expectations)


def shifted(name: str, d: str, a: str, mode: str, sat: bool, part_: str, x: int, n: int) -> int:
    n = part(n, part_, "u32")
    n = n & 31 if mode == "wrap" else min(n, 32)
    value = number(x, 32, a)
    return finish(cut(value << n, 34) if name == "vshl" else value >> n, d, sat, "", "", None)


def cut(x: int, bits: int) -> int:
    """The low bits as a signed number."""
    return (x + (1 << bits - 1) & (1 << bits) - 1) - (1 << bits - 1)


def test_shifts_clamp_or_wrap_their_count() -> None:
    expectations: list[tuple[Case, Any]] = []
    shapes = itertools.product(("vshl", "vshr"), TYPES, TYPES, ("clamp", "wrap"), (False, True), ("", "b0"))
    counts = [0, 1, 7, 8, 15, 16, 17, 30, 31, 32, 33, 40, 64, 255, 256, 0xFFFFFFFF] * 2
    for seed, (name, d, a, mode, sat, part_) in enumerate(shapes):
        case = Case(f"{name}.{d}.{a}.u32{'.sat' * sat}.{mode}", [*words(1, seed), counts], parts=("", "", part_))
        expectations.append((case, partial(shifted, name, d, a, mode, sat, part_)))
    check(expectations)


@pytest.mark.parametrize(
    ("text", "a", "b", "selected", "expected"),
    [
        ("vshl.u32.s32.u32.sat.wrap", 0x68D886D0, 7, "", 0x6C436800),  # 0x346c436800: bits 33 and 32 are 0
        ("vshl.u32.u32.u32.sat.wrap", 0x80800001, 16, "", 0x00010000),
        ("vshl.s32.s32.u32.sat.clamp", 0x40, 33, "", 0),
        ("vshl.s32.u32.u32.sat.clamp", 0xFFFFFFFF, 0xFFFFFFFF, "", 0x80000000),  # -2^32
        ("vshl.s32.u32.u32.sat.wrap", 0x04122C40, 31, "b3", 0x80000000),  # 4 << 31 = 2^33, which is -2^33
        ("vshl.u32.u32.u32.sat.clamp", 0xFFFF, 32, "b0", 0),
        ("vshl.s32.s32.u32.sat.clamp", 0x69FF91FD, 28, "h0", 0xD0000000),
    ],
)
def test_a_left_shift_saturates_what_34_bits_hold(text: str, a: int, b: int, selected: str, expected: int) -> None:
    """Results of an H100 (driver 580): "a .s34 intermediate result" of the manual."""
    check([(Case(text, [[a] * 32, [b] * 32], parts=("", selected, "")), lambda *_: expected)])


def test_comparison_gives_one_or_zero() -> None:
    expectations: list[tuple[Case, Any]] = []
    for seed, (relation, a, b) in enumerate(itertools.product(RELATIONS, TYPES, TYPES)):
        holds = RELATIONS[relation]
        one = partial(lambda a, b, h, x, y: int(h(number(x, 32, a), number(y, 32, b))), a, b, holds)
        expectations.append((Case(f"vset.{a}.{b}.{relation}", words(2, seed)), one))
        added = partial(lambda one, x, y, z: one(x, y) + z & 0xFFFFFFFF, one)
        expectations.append((Case(f"vset.{a}.{b}.{relation}.add", words(3, seed)), added))
    check(expectations)


SIGNS = [("", "", "", ""), ("", "-", "", ""), ("", "-", "-", ""), ("", "", "", "-"), ("", "b1", "-h1", "")]


def multiply_add(
    d: str, a: str, b: str, sat: bool, po: bool, scale: int, parts: tuple[str, ...], x: int, y: int, z: int
) -> int:
    _, first, second, third = parts
    product = part(x, first.removeprefix("-"), a) * part(y, second.removeprefix("-"), b)
    negated = first.startswith("-") != second.startswith("-")
    signed = "s32" in (a, b) or negated or third == "-"
    addend, last = z, 0
    if po:
        last = 1
    elif negated:
        product, last = ~product, 1
    elif third == "-":
        addend, last = ~z & 0xFFFFFFFF, 1
    kind = "s32" if signed else "u32"
    total = (product + number(addend, 32, kind) + last) >> scale
    return (clamp(total, 32, kind) if sat else total) & 0xFFFFFFFF


@pytest.mark.slow
def test_multiply_add_negates_scales_and_clamps() -> None:
    expectations: list[tuple[Case, Any]] = []
    shapes = itertools.product(TYPES, TYPES, (False, True), (False, True), (0, 7, 15), SIGNS)
    for seed, (a, b, sat, po, scale, parts) in enumerate(shapes):
        if po and any(p.startswith("-") for p in parts):
            continue
        text = f"vmad.s32.{a}.{b}{'.po' * po}{'.sat' * sat}{f'.shr{scale}' if scale else ''}"
        expected = partial(multiply_add, "s32", a, b, sat, po, scale, parts)
        expectations.append((Case(text, words(3, seed), parts=parts), expected))
    check(expectations)


def elements(selector: str, count: int, operand: int, a: int, b: int, kind: str) -> list[int]:
    width = 32 // count
    pool = [pair >> at & (1 << width) - 1 for pair in (a, b) for at in range(0, 32, width)]
    chosen = [int(x) for x in reversed(selector[1:])] or range(operand * count, (operand + 1) * count)
    return [number(pool[i], width, kind) for i in chosen]


def simd(
    function: Any, count: int, d: str, kinds: tuple[str, str], end: str, parts: Any, a: int, b: int, c: int
) -> int:
    width, mask = 32 // count, (1 << 32 // count) - 1
    sources = [elements(parts[i + 1], count, i, a, b, kinds[i]) for i in range(2)]
    results = [int(function(x, y)) for x, y in zip(*sources, strict=True)]
    if end == ".sat":
        results = [clamp(x, width, d) for x in results]
    chosen = [int(x) for x in parts[0][1:]] or range(count)
    if end == ".add":
        return c + sum(results[i] for i in chosen) & 0xFFFFFFFF
    merged = [results[i] & mask if i in chosen else c >> i * width & mask for i in range(count)]
    return sum(x << i * width for i, x in enumerate(merged))


SIMD_PARTS = {2: [("", "", ""), ("h1", "h10", "h32"), ("h0", "h31", "h02")],
              4: [("", "", ""), ("b20", "b3210", "b7654"), ("b3", "b7610", "b0246")]}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), list(itertools.product(OPERATIONS, (2, 4))))
def test_simd(name: str, count: int) -> None:
    expectations: list[tuple[Case, Any]] = []
    shapes = itertools.product(TYPES, TYPES, TYPES, ("", ".sat", ".add"), SIMD_PARTS[count])
    for seed, (d, a, b, end, parts) in enumerate(shapes):
        expected = partial(simd, OPERATIONS[name], count, d, (a, b), end, parts)
        expectations.append((Case(f"{name}{count}.{d}.{a}.{b}{end}", words(3, seed), parts=parts), expected))
    check(expectations)


def test_simd_comparison() -> None:
    expectations: list[tuple[Case, Any]] = []
    for seed, (relation, kind, count, end) in enumerate(itertools.product(RELATIONS, TYPES, (2, 4), ("", ".add"))):
        expected = partial(simd, RELATIONS[relation], count, "u32", (kind, kind), end, ("", "", ""))
        expectations.append((Case(f"vset{count}.{kind}.{kind}.{relation}{end}", words(3, seed)), expected))
    check(expectations)
