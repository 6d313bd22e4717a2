"""Conversions between the 16-bit formats, the wider ones and integers round once, in every mode."""

from __future__ import annotations

import itertools
import math
import random
import struct
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from tests.opcodes import exact
from tests.opcodes.bench import LANES, Case, check
from tests.opcodes.exact16 import BF16, F16, NAN, Small
from tests.opcodes.samples import chunked, tuples
from tests.opcodes.test_convert import INTEGERS, clamped, in_register, number

FORMATS = pytest.mark.parametrize("form", [F16, BF16], ids=lambda f: f.name)
MODES = ("rn", "rz", "rm", "rp")


def as_number(width: int, bits: int) -> float:
    text, size = ("<f", 4) if width == 32 else ("<d", 8)
    return float(struct.unpack(text, bits.to_bytes(size, "little"))[0])


def near_ties(form: Small, width: int) -> list[list[list[int]]]:
    """Numbers of the format, the middle between two, and their neighbours in the wide format."""
    source, rows = random.Random(f"{form.name}{width}"), []
    for _ in range(4 * LANES):
        x = form.number(source.getrandbits(15) % form.infinity)
        y = form.number(min(source.getrandbits(15), form.infinity - 1))
        middle = (x + form.number(form.of(x) + 1)) / 2 if form.of(x) + 1 < form.infinity else y
        bits = int.from_bytes(struct.pack("<f" if width == 32 else "<d", middle), "little")
        rows.append(bits + source.choice((-1, 0, 0, 1)) & (1 << width - 1) - 1 | source.getrandbits(1) << width - 1)
    return chunked([rows])


def narrowed(form: Small, width: int, mode: str, a: int) -> int:
    x = as_number(width, a)
    return form.of(x if not math.isfinite(x) else Fraction(x), math.copysign(1.0, x), mode)


@pytest.mark.slow
@FORMATS
@pytest.mark.parametrize("width", [32, 64])
def test_narrowing_rounds_once_in_every_mode(form: Small, width: int) -> None:
    lots = tuples([f"f{width}"], lots=6) + near_ties(form, width)
    check(
        [
            (Case(f"cvt.{mode}.{form.name}.f{width}", lot), partial(narrowed, form, width, mode))
            for mode, lot in itertools.product(MODES, lots)
        ]
    )


@FORMATS
def test_widening_is_exact(form: Small) -> None:
    every = chunked([[a * 65537 // 61 & 0xFFFF for a in range(0, 4096, 3)] + [0, 0x8000, 1, 0x7C00, 0x7F80, 0xFFFF]])

    def expected(width: int, a: int) -> int:
        x = form.number(a)
        if math.isnan(x):
            return exact.NAN[width]
        return int.from_bytes(struct.pack("<f" if width == 32 else "<d", x), "little")

    check([(Case(f"cvt.f{w}.{form.name}", lot), partial(expected, w)) for w, lot in itertools.product((32, 64), every)])


@pytest.mark.slow
@FORMATS
def test_integers_round_once_even_of_64_bits(form: Small) -> None:
    expectations: list[tuple[Case, Any]] = []
    for (kind, bits), mode in itertools.product(INTEGERS, MODES):
        for lot in tuples([str(max(bits, 16))], lots=3):

            def expected(a: int, kind: str = kind, bits: int = bits, mode: str = mode) -> int:
                return form.of(Fraction(number(kind, bits, a)), 1.0, mode)

            expectations.append((Case(f"cvt.{mode}.{form.name}.{kind}{bits}", lot), expected))
    tie = [(0x8080 << 47) + offset for offset in (-1, 0, 1)] + [0x7FFFFFFFFFFFFFFF] * 29
    expectations.append((Case("cvt.rn.bf16.s64", [tie]), lambda a: BF16.of(Fraction(a))))
    check(expectations)


@FORMATS
def test_numbers_round_to_integers(form: Small) -> None:
    def expected(kind: str, bits: int, mode: str, a: int) -> int:
        x = form.number(a)
        if math.isnan(x):
            return in_register(kind, bits, 1 << bits - 1 if bits == 64 else 0)
        whole = exact.rounded_integer(Fraction(x), mode) if math.isfinite(x) else int(math.copysign(1 << 70, x))
        return in_register(kind, bits, clamped(kind, bits, whole))

    lots = tuples(["16"], lots=2)
    check(
        [
            (Case(f"cvt.{mode}i.{kind}{bits}.{form.name}", lot), partial(expected, kind, bits, mode))
            for (kind, bits), mode, lot in itertools.product(INTEGERS, MODES, lots)
        ]
    )


@pytest.mark.slow
@FORMATS
def test_pairs_take_the_first_operand_as_upper_half(form: Small) -> None:
    def expected(mode: str, limit: str, a: int, b: int) -> int:
        halves = []
        for x in (b, a):
            bits = narrowed(form, 32, mode, x)
            if "satfinite" in limit and bits & 0x7FFF == form.infinity:
                bits -= 1
            halves.append(0 if "relu" in limit and bits >> 15 else bits)
        return halves[0] | halves[1] << 16

    expectations: list[tuple[Case, Any]] = []
    for mode, limit in itertools.product(("rn", "rz"), ("", ".relu", ".satfinite", ".relu.satfinite")):
        for lot in tuples(["f32", "f32"], lots=4):
            expectations.append((Case(f"cvt.{mode}{limit}.{form.name}x2.f32", lot), partial(expected, mode, limit)))
    check(expectations)


def test_saturation_and_change_of_format() -> None:
    lots = tuples(["16"], lots=4)
    check(
        [(Case("cvt.sat.f16.f16", lot), lambda a: F16.saturated(NAN if a & 0x7FFF > 0x7C00 else a)) for lot in lots]
        + [(Case("cvt.rn.bf16.f16", lot), _moved) for lot in lots]
    )


def _moved(a: int) -> int:
    x = F16.number(a)
    return BF16.of(x if not math.isfinite(x) else Fraction(x), math.copysign(1.0, x))


def test_rounding_to_integral_halves() -> None:
    def expected(mode: str, a: int) -> int:
        x = F16.number(a)
        if not math.isfinite(x):
            return F16.of(x)
        return F16.of(Fraction(exact.rounded_integer(Fraction(x), mode)), math.copysign(1.0, x))

    lots = tuples(["16"], lots=4)
    check([(Case(f"cvt.{m}i.f16.f16", lot), partial(expected, m)) for m, lot in itertools.product(MODES, lots)])


def test_tf32_keeps_ten_bits_of_mantissa() -> None:
    below, tie, above = 0x3F800FFF, 0x3F801000, 0x3F801001
    check(
        [
            (Case("cvt.rna.tf32.f32", [[below, tie, above, 0xBF801000] * 8]), _nearest_away),
            (Case("cvt.rn.tf32.f32", [[tie, 0x3F803000] * 16]), {tie: 0x3F800000, 0x3F803000: 0x3F804000}.__getitem__),
            (Case("cvt.rz.tf32.f32", [[above, 0x7F7FFFFF] * 16]), lambda a: a & ~0x1FFF),
            (Case("cvt.rna.satfinite.tf32.f32", [[0x7F7FFFFF] * 32]), lambda a: 0x7F7FE000),
        ]
    )


def _nearest_away(a: int) -> int:
    return (a + 0x1000) & ~0x1FFF
