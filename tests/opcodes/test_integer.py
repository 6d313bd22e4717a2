"""Integer arithmetic agrees with Python integers, at every width and signedness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.opcodes.bench import Case, check
from tests.opcodes.samples import tuples

from warpreg.ir.operands import Immediate

TYPES = [(kind, bits) for kind in "us" for bits in (16, 32, 64)]


def number(kind: str, bits: int, pattern: int) -> int:
    """The integer that a pattern stands for."""
    return pattern - (1 << bits) if kind == "s" and pattern >> bits - 1 else pattern


def truncated_division(x: int, y: int) -> tuple[int, int]:
    """Quotient rounded toward zero and remainder; all ones and the dividend where y is 0."""
    if y == 0:
        return -1, x
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def on_numbers(kind: str, bits: int, operation: Callable[..., int], result_bits: int = 0) -> Callable[..., int]:
    """An operation on integers as one on patterns."""
    cut = (1 << (result_bits or bits)) - 1
    return lambda *patterns: operation(*(number(kind, bits, p) for p in patterns)) & cut


@pytest.mark.slow
def test_sums_products_and_extremes_at_every_width() -> None:
    expectations: list[tuple[Case, Any]] = []
    for kind, bits in TYPES:
        operations: dict[str, tuple[int, Callable[..., int]]] = {
            "add": (2, lambda a, b: a + b),
            "sub": (2, lambda a, b: a - b),
            "mul.lo": (2, lambda a, b: a * b),
            "mul.hi": (2, lambda a, b, bits=bits: a * b >> bits),
            "mad.lo": (3, lambda a, b, c: a * b + c),
            "mad.hi": (3, lambda a, b, c, bits=bits: (a * b >> bits) + c),
            "min": (2, min),
            "max": (2, max),
            "sad": (3, lambda a, b, c: c + abs(a - b)),
        }
        if kind == "s":
            operations |= {"abs": (1, abs), "neg": (1, lambda a: -a)}
        for name, (count, operation) in operations.items():
            for sources in tuples([str(bits)] * count, lots=4):
                expectations.append((Case(f"{name}.{kind}{bits}", sources), on_numbers(kind, bits, operation)))
    check(expectations)


def test_wide_products_have_twice_the_width() -> None:
    expectations: list[tuple[Case, Any]] = []
    for kind, bits in [(k, b) for k, b in TYPES if b < 64]:
        for sources in tuples([str(bits)] * 2, lots=4):
            wide = on_numbers(kind, bits, lambda a, b: a * b, 2 * bits)
            expectations.append((Case(f"mul.wide.{kind}{bits}", sources), wide))
            addend = [pattern * 3 for pattern in sources[0]]
            mask = (1 << 2 * bits) - 1
            expectations.append(
                (
                    Case(f"mad.wide.{kind}{bits}", [*sources, addend]),
                    lambda a, b, c, wide=wide, mask=mask: (wide(a, b) + c) & mask,
                )
            )
    check(expectations)


def test_division_truncates_and_defines_division_by_zero() -> None:
    expectations: list[tuple[Case, Any]] = []
    for kind, bits in TYPES:
        for place, name in enumerate(("div", "rem")):
            for sources in tuples([str(bits)] * 2, lots=8):
                operation = on_numbers(kind, bits, lambda a, b, place=place: truncated_division(a, b)[place])
                expectations.append((Case(f"{name}.{kind}{bits}", sources), operation))
    check(expectations)


def test_division_by_a_constant() -> None:
    (sources,) = tuples(["32"], lots=1)
    expectations: list[tuple[Case, Any]] = [
        (
            Case(f"{name}.s32", [*sources, Immediate(divisor)]),
            lambda a, b, place=place: truncated_division(number("s", 32, a), b)[place] & 0xFFFFFFFF,
        )
        for place, name in enumerate(("div", "rem"))
        for divisor in (7, -3, 1, -1, 0)
    ]
    check([(case, lambda a, b, f=f: f(a, b)) for case, f in expectations])


def test_saturation_clamps_to_the_signed_range() -> None:
    def clamped(operation: Callable[..., int]) -> Callable[..., int]:
        return on_numbers("s", 32, lambda *a: max(-(2**31), min(2**31 - 1, operation(*a))))

    cases: dict[str, tuple[int, Callable[..., int]]] = {
        "add.sat.s32": (2, lambda a, b: a + b),
        "sub.sat.s32": (2, lambda a, b: a - b),
        "mad.hi.sat.s32": (3, lambda a, b, c: (a * b >> 32) + c),
    }
    check(
        [
            (Case(name, sources), clamped(operation))
            for name, (count, operation) in cases.items()
            for sources in tuples(["32"] * count, lots=4)
        ]
    )


def test_carry_chains() -> None:
    def both(total: int, bits: int) -> tuple[int, int]:
        return total % (1 << bits), int(not 0 <= total < 1 << bits)

    def without_borrow(total: int, bits: int) -> tuple[int, int]:
        value, borrow = both(total, bits)
        return value, 1 - borrow

    expectations: list[tuple[Case, Any]] = []
    for bits in (32, 64):
        rows: dict[str, tuple[int, Any]] = {
            "add.cc.u": (2, lambda a, b, c, bits=bits: both(a + b, bits)),
            "addc.cc.u": (2, lambda a, b, c, bits=bits: both(a + b + c, bits)),
            "addc.u": (2, lambda a, b, c, bits=bits: both(a + b + c, bits)[0]),
            "sub.cc.u": (2, lambda a, b, c, bits=bits: without_borrow(a - b, bits)),
            "subc.cc.s": (2, lambda a, b, c, bits=bits: without_borrow(a - b - 1 + c, bits)),
            "subc.u": (2, lambda a, b, c, bits=bits: both(a - b - 1 + c, bits)[0]),
            "mad.lo.cc.u": (3, lambda a, b, d, c, bits=bits: both(a * b % (1 << bits) + d, bits)),
            "madc.hi.cc.u": (3, lambda a, b, d, c, bits=bits: both((a * b >> bits) + d + c, bits)),
            "madc.lo.u": (3, lambda a, b, d, c, bits=bits: both(a * b % (1 << bits) + d + c, bits)[0]),
        }
        for name, (count, operation) in rows.items():
            for sources in tuples([str(bits)] * count, lots=4):
                expectations.append((Case(f"{name}{bits}", sources, carry=[0, 1] * 16), operation))
    check(expectations)


def test_24_bit_products_ignore_the_high_byte() -> None:
    def product(a: int, b: int) -> int:
        return number("s", 24, a & 0xFFFFFF) * number("s", 24, b & 0xFFFFFF)

    rows: dict[str, tuple[int, Any]] = {
        "mul24.lo.s32": (2, lambda a, b: product(a, b) & 0xFFFFFFFF),
        "mul24.hi.s32": (2, lambda a, b: product(a, b) >> 16 & 0xFFFFFFFF),
        "mad24.lo.u32": (3, lambda a, b, c: ((a & 0xFFFFFF) * (b & 0xFFFFFF) + c) & 0xFFFFFFFF),
    }
    check([(Case(name, s), op) for name, (n, op) in rows.items() for s in tuples(["32"] * n, lots=3)])


def test_dp4a_multiplies_byte_by_byte() -> None:
    def expected(a: int, b: int, c: int) -> int:
        pairs = ((a >> at & 0xFF, number("s", 8, b >> at & 0xFF)) for at in (0, 8, 16, 24))
        return (c + sum(x * y for x, y in pairs)) & 0xFFFFFFFF

    check([(Case("dp4a.u32.s32", sources), expected) for sources in tuples(["32"] * 3, lots=3)])


def test_narrow_results_fill_a_wider_register_by_their_sign() -> None:
    given = [[0x7FFF, 1, 0xFFFF, 0x1234] * 8, [1, 2, 0, 0] * 8]
    signed = Case("add.s16", given, widths=[32, 32, 32])
    unsigned = Case("add.u16", given, widths=[32, 32, 32])
    check([(signed, lambda a, b: {0x7FFF: 0xFFFF8000, 1: 3, 0xFFFF: 0xFFFFFFFF, 0x1234: 0x1234}[a])])
    check([(unsigned, lambda a, b: a + b & 0xFFFF)])
