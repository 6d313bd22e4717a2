"""Approximate functions stay within the errors that PTX allows."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable

import pytest
from tests.opcodes.bench import Case, check, run
from tests.opcodes.samples import chunked

INFINITY, NAN = 0x7F800000, 0x7FFFFFFF


def bits_of(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def single(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def outcomes(opcode: str, values: list[float]) -> list[tuple[float, float]]:
    """Each argument, rounded to single precision, with its result."""
    cases = [Case(opcode, sources) for sources in chunked([[bits_of(v) for v in values]])]
    run(cases)
    return [(single(a), single(r)) for case in cases for a, r in zip(case.values(0), case.outcome[0], strict=True)]


def spread(low: float, high: float, count: int = 640) -> list[float]:
    source = random.Random(11)
    return [source.uniform(low, high) for _ in range(count)]


def powers(low: float, high: float, count: int = 640) -> list[float]:
    """Positive numbers of all magnitudes between two powers of two."""
    return [2.0**e for e in spread(low, high, count)]


@pytest.mark.parametrize(
    ("opcode", "values", "function", "bound"),
    [
        ("ex2.approx.f32", spread(-125, 127.9), lambda x: 2.0**x, 2**-22),
        ("ex2.approx.ftz.f32", spread(-1, 1), lambda x: 2.0**x, 2**-22),
        ("lg2.approx.f32", [*powers(-149, -1), *powers(1, 127)], math.log2, 2**-22),
        ("rcp.approx.f32", powers(-120, 120), lambda x: 1 / x, 2**-23),
        ("rsqrt.approx.f32", powers(-140, 127), lambda x: 1 / math.sqrt(x), 2**-22.9),
        ("sqrt.approx.f32", powers(-140, 127), math.sqrt, 2**-23),
        ("tanh.approx.f32", [*spread(-12, 12), *powers(-100, 0)], math.tanh, 2**-11),
    ],
)
def test_relative_error(opcode: str, values: list[float], function: Callable[[float], float], bound: float) -> None:
    worst = max(abs(found / function(x) - 1) for x, found in outcomes(opcode, values))
    assert worst <= bound


@pytest.mark.parametrize(
    ("opcode", "values", "function", "bound"),
    [
        ("lg2.approx.f32", spread(0.5, 2), math.log2, 2**-22),
        ("sin.approx.f32", spread(-2 * math.pi, 2 * math.pi), math.sin, 2**-20.5),
        ("cos.approx.f32", spread(-2 * math.pi, 2 * math.pi), math.cos, 2**-20.5),
        ("sin.approx.f32", spread(-100 * math.pi, 100 * math.pi), math.sin, 2**-14.7),
        ("cos.approx.ftz.f32", spread(-10000, 10000), math.cos, 2**-14.7),
    ],
)
def test_absolute_error(opcode: str, values: list[float], function: Callable[[float], float], bound: float) -> None:
    worst = max(abs(found - function(x)) for x, found in outcomes(opcode, values))
    assert worst <= bound


def test_special_arguments() -> None:
    arguments = [0, 1 << 31, INFINITY, 1 << 31 | INFINITY, 0x7FC00001, 0x3F800000, 0xBF800000, 0x00000001] * 4
    one, minus = 0x3F800000, 1 << 31
    expected = {
        "ex2.approx.f32": [one, one, INFINITY, 0, NAN, 0x40000000, 0x3F000000, one],
        "lg2.approx.f32": [minus | INFINITY, minus | INFINITY, INFINITY, NAN, NAN, 0, NAN, bits_of(-149.0)],
        "lg2.approx.ftz.f32": [minus | INFINITY, minus | INFINITY, INFINITY, NAN, NAN, 0, NAN, minus | INFINITY],
        "rcp.approx.ftz.f32": [INFINITY, minus | INFINITY, 0, minus, NAN, one, minus | one, INFINITY],
        "rsqrt.approx.f32": [INFINITY, minus | INFINITY, 0, NAN, NAN, one, NAN, bits_of(2.0**74.5)],
    }
    check(
        [
            (Case(opcode, [arguments]), dict(zip(arguments, row * 4, strict=True)).__getitem__)
            for opcode, row in expected.items()
        ]
    )
    limits = {0: 0, minus: minus, INFINITY: one, minus | INFINITY: minus | one, 0x7FC00001: NAN, 1: 1}
    padded = [*limits, 0, 0] * 4
    check([(Case("tanh.approx.f32", [padded]), limits.__getitem__)])
    for opcode in ("sin.approx.f32", "cos.approx.f32"):
        case = Case(opcode, [arguments])
        run([case])
        assert case.outcome[0][2:5] == [NAN] * 3
    assert [r for _, r in outcomes("sin.approx.f32", [0.0, -0.0, 1e-30])][:3] == [0.0, -0.0, single(bits_of(1e-30))]


def test_sine_of_huge_arguments_stays_in_range() -> None:
    assert all(-1 <= found <= 1 for _, found in outcomes("sin.approx.f32", powers(20, 127)))


def test_subnormal_powers_of_two_come_out_or_are_flushed() -> None:
    arguments = [bits_of(-130.0), bits_of(-149.0), bits_of(-151.0), bits_of(128.0)] * 8
    plain = {bits_of(-130.0): 1 << 19, bits_of(-149.0): 1, bits_of(-151.0): 0, bits_of(128.0): INFINITY}
    flushed = {**plain, bits_of(-130.0): 0, bits_of(-149.0): 0}
    check(
        [
            (Case("ex2.approx.f32", [arguments]), plain.__getitem__),
            (Case("ex2.approx.ftz.f32", [arguments]), flushed.__getitem__),
        ]
    )


def test_approximate_quotient_is_zero_for_enormous_divisors() -> None:
    one, huge = 0x3F800000, bits_of(2.0**127)
    rows = {(one, huge): 0, (one | 1 << 31, huge): 1 << 31, (INFINITY, huge): NAN, (one, bits_of(4.0)): bits_of(0.25)}
    sources = [[a for a, _ in rows] * 8, [b for _, b in rows] * 8]
    check(
        [
            (Case("div.approx.f32", sources), lambda a, b: rows[a, b]),
            (Case("div.full.f32", [[one] * 32, [bits_of(3.0)] * 32]), lambda a, b: bits_of(1 / 3)),
        ]
    )


def test_rough_double_reciprocal_uses_and_keeps_the_high_word() -> None:
    def double(bits: int) -> float:
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])

    source = random.Random(3)
    arguments = [struct.unpack("<Q", struct.pack("<d", source.uniform(1e-5, 1e5)))[0] for _ in range(32)]
    reciprocal, root = Case("rcp.approx.ftz.f64", [arguments]), Case("rsqrt.approx.ftz.f64", [arguments])
    run([reciprocal, root])
    for a, x, y in zip(arguments, reciprocal.outcome[0], root.outcome[0], strict=True):
        assert x & 0xFFFFFFFF == y & 0xFFFFFFFF == 0
        assert abs(double(x) * double(a) - 1) < 2**-18
        assert abs(double(y) ** 2 * double(a) - 1) < 2**-17
