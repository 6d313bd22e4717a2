"""Arithmetic of f16 and bf16, single and packed, agrees with exact fractions bit for bit."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from tests.opcodes.bench import LANES, Case, check, run
from tests.opcodes.exact16 import BF16, EDGES, F16, NAN, Small

FORMATS = pytest.mark.parametrize("form", [F16, BF16], ids=lambda f: f.name)
OPERATIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, operator.add),
    "sub": (2, operator.sub),
    "mul": (2, operator.mul),
    "fma.rn": (3, lambda a, b, c: a * b + c),
}


def samples(form: Small, count: int, lots: int, seed: int = 1) -> list[list[list[int]]]:
    """Edges and random bits, and now and then operands whose product or sum nearly is a tie."""
    source = random.Random(f"{form.name}{count}{seed}")

    def draw() -> int:
        if source.random() < 0.4:
            return source.choice(EDGES[form]) | source.getrandbits(1) << 15
        if source.random() < 0.4:
            return form.one + source.randint(-3000, 3000) | source.getrandbits(1) << 15
        return source.getrandbits(16)

    return [[[draw() for _ in range(LANES)] for _ in range(count)] for _ in range(lots)]


def on_pairs(function: Callable[..., int], *operands: int) -> int:
    low, high = (function(*(a >> at & 0xFFFF for a in operands)) for at in (0, 16))
    return low | high << 16


def packed(lots: Sequence[Sequence[Sequence[int]]]) -> list[list[list[int]]]:
    """Two lots, the second in the upper halves."""
    return [
        [[a | b << 16 for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)]
        for first, second in zip(lots[::2], lots[1::2], strict=True)
    ]


@pytest.mark.slow
@FORMATS
def test_arithmetic_rounds_once(form: Small) -> None:
    expectations: list[tuple[Case, Any]] = []
    for name, (count, function) in OPERATIONS.items():
        lots, expected = samples(form, count, 24), partial(form.apply, function)
        expectations += [(Case(f"{name}.{form.name}", lot), expected) for lot in lots]
        expectations += [(Case(f"{name}.{form.name}x2", lot), partial(on_pairs, expected)) for lot in packed(lots)]
    check(expectations)


@pytest.mark.slow
@FORMATS
def test_fma_of_a_product_that_ties_but_for_the_addend(form: Small) -> None:
    """1.x * 1.y plus a number far below the last bit of the product decides the tie."""
    ties = [a for a in range(form.one, form.one + (1 << form.precision - 1)) if a & 1]
    source = random.Random(3)
    expectations = []
    for _ in range(16):
        a, b = ([source.choice(ties) for _ in range(LANES)] for _ in range(2))
        c = [source.choice((1, 2, 3, 0x100, 0x8001, 0x8002, 0x8100)) for _ in range(LANES)]
        expectations.append((Case(f"fma.rn.{form.name}", [a, b, c]), partial(form.apply, lambda x, y, z: x * y + z)))
        half_ulp = [form.one - (form.precision << form.precision - 1) for _ in range(LANES)]
        expectations.append(
            (Case(f"fma.rn.{form.name}", [half_ulp, [form.one] * LANES, a]), expectations[-1][1])
        )  # fmt: skip
    check(expectations)


@pytest.mark.slow
def test_ftz_sat_and_relu() -> None:
    def flushing(function: Callable[..., Any], *operands: int) -> int:
        return F16.flushed(F16.apply(function, *map(F16.flushed, operands)))

    def relu(function: Callable[..., Any], form: Small, *operands: int) -> int:
        result = form.apply(function, *operands)
        return 0 if result >> 15 else result

    expectations: list[tuple[Case, Any]] = []
    for name, (count, function) in OPERATIONS.items():
        for lot in samples(F16, count, 8):
            expectations.append((Case(f"{name}.ftz.f16", lot), partial(flushing, function)))
            saturating = partial(F16.apply, function)
            expectations.append((Case(f"{name}.sat.f16", lot), lambda *x, f=saturating: F16.saturated(f(*x))))
    for form in (F16, BF16):
        for lot in samples(form, 3, 8):
            multiplied = partial(relu, OPERATIONS["fma.rn"][1], form)
            expectations.append((Case(f"fma.rn.relu.{form.name}", lot), multiplied))
    check(expectations)


def extremum(form: Small, name: str, modifiers: str, a: int, b: int) -> int:
    sign = (a ^ b) & 0x8000 if "abs" in modifiers else 0
    if "abs" in modifiers:
        a, b = a & 0x7FFF, b & 0x7FFF
    numbers = [x for x in (a, b) if not math.isnan(form.number(x))]
    if not numbers or (len(numbers) < 2 and "NaN" in modifiers):
        return NAN
    best = (min if name == "min" else max)(numbers, key=lambda x: (form.number(x), math.copysign(1, form.number(x))))
    return best | sign


@pytest.mark.slow
@FORMATS
def test_extrema_order_zeros_and_treat_nan_as_asked(form: Small) -> None:
    expectations: list[tuple[Case, Any]] = []
    for name, modifiers in itertools.product(("min", "max"), ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")):
        lots, expected = samples(form, 2, 8), partial(extremum, form, name, modifiers)
        expectations += [(Case(f"{name}{modifiers}.{form.name}", lot), expected) for lot in lots]
        expectations += [
            (Case(f"{name}{modifiers}.{form.name}x2", lot), partial(on_pairs, expected)) for lot in packed(lots)
        ]
    check(expectations)


@FORMATS
def test_sign_operations_move_bits(form: Small) -> None:
    (lot,) = samples(form, 1, 1)
    (pair,) = packed(samples(form, 1, 2))
    check(
        [
            (Case(f"abs.{form.name}", lot), lambda a: a & 0x7FFF),
            (Case(f"neg.{form.name}", lot), lambda a: a ^ 0x8000),
            (Case(f"neg.{form.name}x2", pair), lambda a: a ^ 0x80008000),
        ]
    )


def relation(form: Small, name: str, a: int, b: int) -> bool:
    x, y = form.number(a), form.number(b)
    unordered = math.isnan(x) or math.isnan(y)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name.endswith("u")
    return bool(getattr(operator, name.removesuffix("u"))(x, y))


@pytest.mark.slow
@FORMATS
def test_comparisons_of_one_and_of_two(form: Small) -> None:
    expectations: list[tuple[Case, Any]] = []
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        holds = partial(relation, form, name)
        lots = samples(form, 2, 2)

        def both(a: int, b: int, holds: Any = holds) -> tuple[bool, bool]:
            return holds(a & 0xFFFF, b & 0xFFFF), holds(a >> 16, b >> 16)

        def as_value(a: int, b: int, both: Any = both) -> int:
            return sum(form.one << at for at, p in zip((0, 16), both(a, b), strict=True) if p)

        for lot in lots:
            expectations.append((Case(f"setp.{name}.{form.name}", lot), holds))
            expectations.append(
                (Case(f"set.{name}.{form.name}.{form.name}", lot), lambda a, b, h=holds: form.one * h(a, b))
            )
            expectations.append((Case(f"set.{name}.u32.{form.name}", lot), lambda a, b, h=holds: 0xFFFFFFFF * h(a, b)))
        for lot in packed(lots):
            expectations.append((Case(f"setp.{name}.{form.name}x2", lot, results=2), both))
            expectations.append((Case(f"set.{name}.{form.name}x2.{form.name}x2", lot), as_value))
            flags = [lane % 2 for lane in range(LANES)]
            case = Case(f"setp.{name}.and.{form.name}x2", [*lot, flags], results=2)
            expectations.append((case, lambda a, b, c, f=both: tuple(p and bool(c) for p in f(a, b))))
    check(expectations)


def test_set_gives_one_in_half_precision() -> None:
    low, high = [1, 5, 0xFFFF, 0x8000] * 8, [3] * 32
    signed = {1: 0x3C00, 5: 0, 0xFFFF: 0x3C00, 0x8000: 0x3C00}
    check([(Case("set.lt.f16.s16", [low, high]), lambda a, b: signed[a])])
    check([(Case("set.lt.bf16.u16", [low, high]), lambda a, b: 0x3F80 * (a < b))])


@FORMATS
@pytest.mark.parametrize(("name", "function"), [("ex2.approx", lambda x: 2.0**x), ("tanh.approx", math.tanh)])
def test_approximations_stay_within_the_error_of_the_format(
    form: Small, name: str, function: Callable[[float], float]
) -> None:
    """PTX allows 2**-9.9 relative to 2**x in f16 and 2**-7 in bf16, and 2**-10.987 or 2**-8 of tanh: less than one
    last bit."""

    values = [form.of(x / 8) for x in range(-64, 64)]
    lots = [values[at : at + LANES] for at in range(0, len(values), LANES)]
    flush = ".ftz" if form is BF16 and name.startswith("ex2") else ""
    cases = [Case(f"{name}{flush}.{form.name}", [lot]) for lot in lots]
    run(cases)
    for case in cases:
        for given, found in zip(case.values(0), case.outcome[0], strict=True):
            assert abs(found - form.of(function(form.number(given)))) <= 1, (hex(given), hex(found))


def test_mixed_precision_widens_first() -> None:
    one, third = 0x3C00, 0x3555
    check(
        [
            (Case("add.f32.f16", [[one] * 32, [0x40000000] * 32]), lambda a, b: 0x40400000),
            (Case("fma.rn.f32.f16", [[third] * 32, [one] * 32, [0x00000000] * 32]), lambda a, b, c: 0x3EAAA000),
            (Case("sub.f32.bf16", [[0x3F80] * 32, [0x40000000] * 32]), lambda a, b: 0xBF800000),
        ]
    )
