"""Conversions between integers and numbers, moves that pack and unpack, and address spaces."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from tests.opcodes import exact
from tests.opcodes.bench import Case, check
from tests.opcodes.samples import tuples

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW

INTEGERS = [(kind, bits) for kind in "us" for bits in (8, 16, 32, 64)]


def number(kind: str, bits: int, pattern: int) -> int:
    pattern &= (1 << bits) - 1
    return pattern - (1 << bits) if kind == "s" and pattern >> bits - 1 else pattern


def clamped(kind: str, bits: int, x: int) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s" else (0, (1 << bits) - 1)
    return max(low, min(high, x))


def in_register(kind: str, bits: int, x: int) -> int:
    """An integer as it stands in a register of at least 16 bits."""
    return number(kind, bits, x) & (1 << max(bits, 16)) - 1


def integer_to_integer(saturating: bool, to: str, bits: int, of: str, source_bits: int, a: int) -> int:
    x = number(of, source_bits, a)
    return in_register(to, bits, clamped(to, bits, x) if saturating else x)


def holds(to: str, m: int, of: str, n: int) -> bool:
    """Whether every value of the source type is one of the result's: PTX then allows no ``.sat``."""
    return (to == of and m >= n) or (to == "s" and of == "u" and m > n)


def test_integers_extend_cut_and_saturate() -> None:
    expectations: list[tuple[Case, Any]] = []
    for (to, m), (of, n) in itertools.product(INTEGERS, INTEGERS):
        for sources in tuples([str(max(n, 16))], lots=2):
            types = f"{to}{m}.{of}{n}"
            expectations.append((Case(f"cvt.{types}", sources), partial(integer_to_integer, False, to, m, of, n)))
            if not holds(to, m, of, n):
                saturated = partial(integer_to_integer, True, to, m, of, n)
                expectations.append((Case(f"cvt.sat.{types}", sources), saturated))
    check(expectations)


def float_to_integer(mode: str, to: str, bits: int, width: int, a: int) -> int:
    if exact.is_nan(a, width):
        return in_register(to, bits, 1 << bits - 1 if width == 64 or bits == 64 else 0)
    if exact.is_infinite(a, width):
        whole = -(1 << 70) if exact.sign(a, width) else 1 << 70
    else:
        whole = exact.rounded_integer(exact.value(a, width), mode)
    return in_register(to, bits, clamped(to, bits, whole))


@pytest.mark.slow
def test_numbers_round_and_clamp_to_integers() -> None:
    expectations: list[tuple[Case, Any]] = []
    for (to, bits), width, mode in itertools.product(INTEGERS, (32, 64), ("rn", "rz", "rm", "rp")):
        for sources in tuples([f"f{width}"], lots=3):
            expected = partial(float_to_integer, mode, to, bits, width)
            expectations.append((Case(f"cvt.{mode}i.{to}{bits}.f{width}", sources), expected))
    check(expectations)


def integer_to_number(mode: str, width: int, of: str, bits: int, a: int) -> int:
    return exact.rounded(Fraction(number(of, bits, a)), width, mode)


def test_integers_round_to_numbers_in_every_mode() -> None:
    expectations: list[tuple[Case, Any]] = []
    for (of, bits), width, mode in itertools.product(INTEGERS, (32, 64), ("rn", "rz", "rm", "rp")):
        for sources in tuples([str(max(bits, 16))], lots=3):
            expected = partial(integer_to_number, mode, width, of, bits)
            expectations.append((Case(f"cvt.{mode}.f{width}.{of}{bits}", sources), expected))
    check(expectations)


def number_to_number(to: int, of: int, mode: str, a: int) -> int:
    if exact.is_nan(a, of):
        return exact.NAN[to]
    if exact.is_infinite(a, of):
        return exact.infinity(to) | exact.sign(a, of) << to - 1
    return exact.rounded(exact.value(a, of), to, mode, bool(exact.sign(a, of)))


def test_widening_is_exact_and_narrowing_rounds_in_every_mode() -> None:
    expectations: list[tuple[Case, Any]] = []
    for mode in ("rn", "rz", "rm", "rp"):
        for sources in tuples(["f64"], lots=8):
            expectations.append((Case(f"cvt.{mode}.f32.f64", sources), partial(number_to_number, 32, 64, mode)))
    for sources in tuples(["f32"], lots=8):
        widened = partial(number_to_number, 64, 32, "rn")
        expectations.append((Case("cvt.f64.f32", sources), widened))
        expectations.append((Case("cvt.ftz.f64.f32", sources), lambda a, f=widened: f(exact.flushed(a))))
    check(expectations)


def test_rounding_to_integral_numbers_keeps_the_sign_of_zero() -> None:
    def expected(mode: str, width: int, a: int) -> int:
        if exact.is_nan(a, width):
            return exact.NAN[width]
        if exact.is_infinite(a, width):
            return a
        whole = exact.rounded_integer(exact.value(a, width), mode)
        return exact.rounded(Fraction(whole), width, "rn", bool(exact.sign(a, width)))

    expectations: list[tuple[Case, Any]] = []
    for mode, width in itertools.product(("rn", "rz", "rm", "rp"), (32, 64)):
        for sources in tuples([f"f{width}"], lots=4):
            expectations.append((Case(f"cvt.{mode}i.f{width}.f{width}", sources), partial(expected, mode, width)))
    check(expectations)


def test_saturating_conversion_clamps_to_the_unit_interval() -> None:
    check([(Case("cvt.sat.f32.f32", s), lambda a: exact.saturated(a, 32)) for s in tuples(["f32"], lots=3)])


def test_mov_packs_and_unpacks_lowest_first() -> None:
    low, high = [0x1111 + i for i in range(32)], [0xA000 + i for i in range(32)]
    words = [b << 16 | a for a, b in zip(low, high, strict=True)]
    check(
        [
            (Case("mov.b32", [low, high]), lambda a, b: b << 16 | a),
            (Case("mov.b32", [words], results=2), lambda a: (a & 0xFFFF, a >> 16)),
            (Case("mov.b64", [words, low]), lambda a, b: b << 32 | a),
            (Case("mov.b64", [low, high, low, high]), lambda a, b, c, d: d << 48 | c << 32 | b << 16 | a),
            (Case("mov.b64", [[w << 31 for w in words]], results=2), lambda a: (a & 0xFFFFFFFF, a >> 32)),
            (Case("mov.u32", [words]), lambda a: a),
            (Case("mov.pred", [[0, 1] * 16]), lambda a: a),
        ]
    )


def test_shared_and_local_windows() -> None:
    offsets = [0, 4, 0xFFFF, 0xFFFFFF] * 8
    generic = [SHARED_WINDOW, LOCAL_WINDOW, 0x1000_0000, LOCAL_WINDOW + 0xFF_FFFF] * 8
    check(
        [
            (Case("cvta.shared.u64", [offsets]), lambda a: a + SHARED_WINDOW),
            (Case("cvta.to.local.u64", [[a + LOCAL_WINDOW for a in offsets]]), lambda a: a - LOCAL_WINDOW),
            (Case("cvta.to.global.u64", [generic]), lambda a: a),
            (Case("isspacep.shared", [generic]), lambda a: int(a == SHARED_WINDOW)),
            (Case("isspacep.local", [generic]), lambda a: int(a in (LOCAL_WINDOW, LOCAL_WINDOW + 0xFF_FFFF))),
            (Case("isspacep.global", [generic]), lambda a: int(a == 0x1000_0000)),
        ]
    )
