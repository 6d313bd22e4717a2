"""Floating-point arithmetic agrees with exact fractions bit for bit, in every rounding mode."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest
from tests.opcodes import exact
from tests.opcodes.bench import Case, check
from tests.opcodes.samples import tuples

OPERATIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "add": (2, exact.add),
    "sub": (2, lambda a, b, w, r: exact.add(a, exact.negate(b, w), w, r)),
    "mul": (2, exact.multiply),
    "fma": (3, exact.fma),
    "div": (2, exact.divide),
    "sqrt": (1, exact.square_root),
    "rcp": (1, lambda a, w, r: exact.divide(exact.rounded(Fraction(1), w), a, w, r)),
}


def partial_last(reference: Callable[..., int], *last: object) -> Callable[..., int]:
    return lambda *given: reference(*given, *last)


def with_flushing(reference: Callable[..., int]) -> Callable[..., int]:
    return lambda *given: exact.flushed(reference(*map(exact.flushed, given), 32, "rn"))


def with_saturation(reference: Callable[..., int]) -> Callable[..., int]:
    return lambda *given: exact.saturated(reference(*given, 32, "rn"), 32)


@pytest.mark.slow
@pytest.mark.parametrize("width", [32, 64])
def test_arithmetic_rounds_exactly_in_every_mode(width: int) -> None:
    expectations = []
    for (name, (count, reference)), mode in itertools.product(OPERATIONS.items(), ("rn", "rz", "rm", "rp")):
        for sources in tuples([f"f{width}"] * count, lots=10):
            expectations.append((Case(f"{name}.{mode}.f{width}", sources), partial_last(reference, width, mode)))
    check(expectations)


def test_ftz_flushes_operands_and_results_and_keeps_the_sign() -> None:
    expectations = []
    for name in ("add", "mul", "fma", "div"):
        count, reference = OPERATIONS[name]
        for sources in tuples(["f32"] * count, lots=8):
            expectations.append((Case(f"{name}.rn.ftz.f32", sources), with_flushing(reference)))
    check(expectations)


def test_sat_clamps_to_the_unit_interval_and_turns_nan_into_zero() -> None:
    expectations = []
    for name in ("add", "mul", "fma"):
        count, reference = OPERATIONS[name]
        for sources in tuples(["f32"] * count, lots=4):
            expectations.append((Case(f"{name}.rn.sat.f32", sources), with_saturation(reference)))
    check(expectations)


def ordered(bits: int, width: int) -> int:
    """Integers in the order of the numbers, -0 below +0."""
    return -1 - (bits ^ 1 << width - 1) if exact.sign(bits, width) else bits


def extremum(name: str, width: int, a: int, b: int) -> int:
    if exact.is_nan(a, width) or exact.is_nan(b, width):
        numbers = [x for x in (a, b) if not exact.is_nan(x, width)]
        return numbers[0] if numbers else exact.NAN[width]
    return (min if name == "min" else max)(a, b, key=lambda x: ordered(x, width))


@pytest.mark.parametrize("width", [32, 64])
def test_min_and_max_order_zeros_and_prefer_numbers_to_nan(width: int) -> None:
    expectations = []
    for name in ("min", "max"):
        for sources in tuples([f"f{width}"] * 2, lots=40):
            expectations.append((Case(f"{name}.f{width}", sources), partial(extremum, name, width)))
    check(expectations)


def test_min_nan_lets_one_nan_decide() -> None:
    def expected(a: int, b: int) -> int:
        return exact.NAN[32] if exact.is_nan(a, 32) or exact.is_nan(b, 32) else extremum("min", 32, a, b)

    check([(Case("min.NaN.f32", sources), expected) for sources in tuples(["f32"] * 2, lots=20)])


def test_sign_operations_move_bits() -> None:
    check(
        [
            (Case("abs.f32", [[0xBF800000, 0x80000000, 0xFFC00001, 1] * 8]), lambda a: a & 0x7FFFFFFF),
            (Case("neg.f64", [[0, 1 << 63, 0xFFF0000000000001, 5] * 8]), lambda a: a ^ 1 << 63),
            (Case("abs.ftz.f32", [[0x80000001, 0x80800000] * 16]), {0x80000001: 0, 0x80800000: 0x00800000}.__getitem__),
            (
                Case("copysign.f32", [[0x80000000, 0x3F800000] * 16, [0x40000000, 0xC0400000] * 16]),
                lambda a, b: (a & 1 << 31) | (b & ~(1 << 31)),
            ),
        ]
    )  # fmt: skip


def test_testp_counts_zero_as_normal() -> None:
    properties = {
        "finite": lambda a: not exact.is_nan(a, 32) and not exact.is_infinite(a, 32),
        "infinite": lambda a: exact.is_infinite(a, 32),
        "number": lambda a: not exact.is_nan(a, 32),
        "notanumber": lambda a: exact.is_nan(a, 32),
        "normal": lambda a: not (exact.is_nan(a, 32) or exact.is_infinite(a, 32) or exact.is_subnormal(a, 32)),
        "subnormal": lambda a: exact.is_subnormal(a, 32),
    }
    check(
        [
            (Case(f"testp.{name}.f32", sources), lambda a, holds=holds: int(holds(a)))
            for name, holds in properties.items()
            for sources in tuples(["f32"], lots=4)
        ]
    )


def test_rounding_mode_is_nearest_again_after_a_directed_operation() -> None:
    one, tiny = [0x3F800000] * 32, [0x33000001] * 32
    up = Case("add.rp.f32", [one, tiny])
    nearest = Case("add.rn.f32", [one, tiny])
    check([(up, lambda a, b: 0x3F800001), (nearest, lambda a, b: 0x3F800000), (up, lambda a, b: 0x3F800001)])
