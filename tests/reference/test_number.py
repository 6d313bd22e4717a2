"""The reference's arithmetic against the host's (round to nearest) and against values derived by hand (other modes)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import conversion, floats, integers
from tests.reference.number import F32, F64, from_float, mask, to_float
from tests.reference.vocabulary import FLOAT_EDGES

ONE, TINY = 0x3F800000, 0x00000001
singles = st.one_of(st.integers(0, mask(32)), st.sampled_from(FLOAT_EDGES[32]))
doubles = st.one_of(st.integers(0, mask(64)), st.sampled_from(FLOAT_EDGES[64]))


def host32(function: Callable[..., Any], *patterns: int) -> int:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        out = np.float32(function(*(np.array(p, np.uint32).view(np.float32)[()] for p in patterns)))
    return F32.nan if np.isnan(out) else int(out.view(np.uint32))


def host64(function: Callable[..., Any], *patterns: int) -> int:
    with np.errstate(all="ignore"):
        out = np.float64(function(*(np.array(p, np.uint64).view(np.float64)[()] for p in patterns)))
    return F64.nan if np.isnan(out) else int(out.view(np.uint64))


@given(singles, singles)
def test_single_precision_equals_the_host(a: int, b: int) -> None:
    assert floats.add(F32, a, b, "rn") == host32(lambda x, y: x + y, a, b)
    assert floats.subtract(F32, a, b, "rn") == host32(lambda x, y: x - y, a, b)
    assert floats.multiply(F32, a, b, "rn") == host32(lambda x, y: x * y, a, b)
    assert floats.divide(F32, a, b, "rn") == host32(lambda x, y: x / y, a, b)
    assert floats.square_root(F32, a, "rn") == host32(np.sqrt, a)


@given(doubles, doubles)
def test_double_precision_equals_the_host(a: int, b: int) -> None:
    assert floats.add(F64, a, b, "rn") == host64(lambda x, y: x + y, a, b)
    assert floats.subtract(F64, a, b, "rn") == host64(lambda x, y: x - y, a, b)
    assert floats.multiply(F64, a, b, "rn") == host64(lambda x, y: x * y, a, b)
    assert floats.divide(F64, a, b, "rn") == host64(lambda x, y: x / y, a, b)
    assert floats.square_root(F64, a, "rn") == host64(np.sqrt, a)


@given(singles, singles)
def test_comparisons_equal_the_host(a: int, b: int) -> None:
    x, y = (np.array(p, np.uint32).view(np.float32)[()] for p in (a, b))
    unordered = bool(np.isnan(x) or np.isnan(y))
    for name, holds in {"eq": x == y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}.items():
        assert floats.compare(F32, name, a, b) == holds
        assert floats.compare(F32, name + "u", a, b) == (holds or unordered)
    assert floats.compare(F32, "ne", a, b) == (not unordered and x != y)
    assert floats.compare(F32, "neu", a, b) == (x != y)


@given(doubles)
def test_narrowing_equals_the_host(a: int) -> None:
    with np.errstate(all="ignore"):
        expected = np.array(a, np.uint64).view(np.float64).astype(np.float32)[()]
    got = conversion.convert(("rn",), "f32", "f64", a)
    assert got == (F32.nan if np.isnan(expected) else int(expected.view(np.uint32)))


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_become_floats_as_on_the_host(n: int) -> None:
    assert conversion.convert(("rn",), "f32", "s64", n & mask(64)) == int(
        np.int64(n).astype(np.float32).view(np.uint32)
    )
    assert conversion.convert(("rn",), "f64", "s64", n & mask(64)) == int(np.float64(n).view(np.uint64))


@settings(max_examples=50)
@given(singles, singles, singles)
def test_directed_roundings_enclose_the_nearest(a: int, b: int, c: int) -> None:
    down, nearest, up = (to_float(floats.fused(F32, a, b, c, m), 32) for m in ("rm", "rn", "rp"))
    zero = to_float(floats.fused(F32, a, b, c, "rz"), 32)
    if not math.isnan(nearest):
        assert down <= nearest <= up
        assert abs(zero) == min(abs(down), abs(up))


@pytest.mark.parametrize(("mode", "expected"), [("rn", ONE), ("rz", ONE), ("rm", ONE), ("rp", ONE + 1)])
def test_one_plus_the_least_denormal_rounds_up_only_towards_infinity(mode: str, expected: int) -> None:
    assert floats.add(F32, ONE, TINY, mode) == expected


@pytest.mark.parametrize(("mode", "expected"), [("rn", ONE), ("rz", ONE - 1), ("rm", ONE - 1), ("rp", ONE)])
def test_one_minus_the_least_denormal(mode: str, expected: int) -> None:
    assert floats.subtract(F32, ONE, TINY, mode) == expected


def test_ties_go_to_even() -> None:
    half_ulp = from_float(2.0**-24, 32)
    assert floats.add(F32, ONE, half_ulp, "rn") == ONE
    assert floats.add(F32, ONE + 1, half_ulp, "rn") == ONE + 2


def test_overflow_depends_on_the_mode() -> None:
    largest = 0x7F7FFFFF
    assert floats.add(F32, largest, largest, "rn") == 0x7F800000
    assert floats.add(F32, largest, largest, "rz") == largest
    assert floats.add(F32, largest, largest, "rm") == largest
    assert floats.add(F32, largest | 1 << 31, largest | 1 << 31, "rm") == 0xFF800000


def test_cancellation_gives_minus_zero_only_when_rounding_down() -> None:
    assert floats.subtract(F32, ONE, ONE, "rn") == 0
    assert floats.subtract(F32, ONE, ONE, "rm") == 1 << 31
    assert floats.add(F32, 1 << 31, 1 << 31, "rp") == 1 << 31


def test_fused_rounds_once() -> None:
    """(1 + 2**-12)**2 - (1 + 2**-11) is 2**-24; the rounded product alone would leave 0."""
    a, c = from_float(1 + 2.0**-12, 32), from_float(-(1 + 2.0**-11), 32)
    assert floats.fused(F32, a, a, c, "rn") == from_float(2.0**-24, 32)


def test_a_denormal_result_rounds_at_the_denormal_quantum() -> None:
    """Half of the least denormal is a tie, so it goes to zero; three halves go to two."""
    half = from_float(0.5, 32)
    assert floats.multiply(F32, TINY, half, "rn") == 0
    assert floats.multiply(F32, TINY, half, "rp") == 1
    assert floats.multiply(F32, 3, half, "rn") == 2


def test_minimum_orders_zeros_and_ignores_one_nan() -> None:
    assert floats.least(F32, 0, 1 << 31) == 1 << 31
    assert floats.greatest(F32, 1 << 31, 0) == 0
    assert floats.least(F32, 0x7FC00001, ONE) == ONE
    assert floats.least(F32, 0x7FC00001, 0xFFC00001) == F32.nan
    assert floats.least(F32, 0x7FC00001, ONE, propagate=True) == F32.nan


def test_saturation_clamps_to_the_unit_interval() -> None:
    assert [floats.saturate(F32, a) for a in (0xBF800000, 0x40000000, F32.nan, 0x3F000000)] == [0, ONE, 0, 0x3F000000]


@pytest.mark.parametrize(
    ("rounding", "to", "value", "expected"),
    [
        ("rni", "s32", 2.5, 2), ("rni", "s32", 3.5, 4), ("rzi", "s32", -2.7, -2), ("rmi", "s32", -2.1, -3),
        ("rpi", "s32", 2.1, 3), ("rzi", "u32", -1.0, 0), ("rzi", "s32", 3e9, 2**31 - 1), ("rzi", "u8", 300.0, 255),
        ("rzi", "s8", -300.0, -128), ("rzi", "s64", math.inf, 2**63 - 1),
    ],
)  # fmt: skip
def test_floats_become_integers_clamped(rounding: str, to: str, value: float, expected: int) -> None:
    assert conversion.convert((rounding,), to, "f64", from_float(value, 64)) == expected & mask(int(to[1:]))


def test_nan_becomes_zero_or_the_top_bit() -> None:
    assert conversion.convert(("rzi",), "s32", "f32", F32.nan) == 0
    assert conversion.convert(("rzi",), "s64", "f32", F32.nan) == 1 << 63
    assert conversion.convert(("rzi",), "u32", "f64", F64.nan) == 1 << 31


@given(st.integers(0, mask(32)), st.integers(0, 40), st.integers(0, 40))
def test_an_extracted_field_can_be_put_back(a: int, start: int, length: int) -> None:
    field = integers.extract("u", 32, a, start, length)
    assert integers.insert(32, field, a, start, length) == a


def test_bit_instructions_by_hand() -> None:
    assert integers.extract("s", 32, 0xF0, 4, 4) == 0xFFFFFFFF
    assert integers.extract("s", 32, 0x80000000, 28, 8) == 0xFFFFFFF8
    assert integers.find("u", 32, False, 0x00010000) == 16
    assert integers.find("s", 32, True, 0xFFFF0000) == 16
    assert integers.find("s", 32, False, 0xFFFFFFFF) == 0xFFFFFFFF
    assert integers.permute("", 0x33221100, 0x77665544, 0x7531) == 0x77553311
    assert integers.permute("", 0x80, 0, 0x8888) == 0xFFFFFFFF
    assert integers.funnel("l", False, 0x80000000, 0x1, 33) == 0x3
    assert integers.funnel("r", True, 0x1, 0xABCD, 40) == 0xABCD
    assert integers.logic3(0x96, 0b1100, 0b1010, 0b0110) == 0b0000
    assert integers.quotient("s", 32, 0x80000000, 0xFFFFFFFF) & mask(32) == 0x80000000
    assert integers.remainder("s", 32, mask(32) - 6, 3) == -1
