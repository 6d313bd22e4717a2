"""Pairs of 8-bit numbers round to the nearest of all the format's numbers."""

from __future__ import annotations

import itertools
import math
import random
import struct
from functools import partial

import pytest
from tests.opcodes.bench import LANES, Case, check
from tests.opcodes.exact16 import F16, NAN
from tests.opcodes.samples import tuples

LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


def numbers(name: str) -> list[float]:
    """The finite numbers from 0 upwards."""
    mantissa, bias = (3, 7) if name == "e4m3" else (2, 15)
    found = []
    for bits in range(0x80):
        exponent, fraction = divmod(bits, 1 << mantissa)
        whole = fraction + (1 << mantissa) * (exponent > 0)
        found.append(math.ldexp(whole, max(exponent, 1) - bias - mantissa))
    return [x for x in found if x <= LARGEST[name]]


def nearest(name: str, relu: bool, x: float) -> int:
    if math.isnan(x):
        return 0x7F
    negative = math.copysign(1.0, x) < 0
    size, grid = min(abs(x), LARGEST[name]), numbers(name)
    best = min(range(len(grid)), key=lambda i: (abs(grid[i] - size), i & 1))
    return 0 if relu and negative else best | negative << 7


def single(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def bits_of(x: float) -> int:
    return int.from_bytes(struct.pack("<f", x), "little")


def in_range(name: str) -> list[list[int]]:
    """Numbers of the format, middles between two, and numbers beside these."""
    source, grid = random.Random(name), numbers(name)
    middles = [(x + y) / 2 for x, y in itertools.pairwise(grid)]

    def draw() -> int:
        return bits_of(source.choice(grid + middles) * source.choice((1, -1))) + source.choice((0, 0, 1))

    return [[draw() for _ in range(LANES)] for _ in range(2)]


@pytest.mark.parametrize("name", LARGEST)
@pytest.mark.parametrize("relu", [False, True])
def test_single_precision_rounds_and_clamps(name: str, relu: bool) -> None:
    lots = [in_range(name), *tuples(["f32", "f32"], lots=6)]
    text = f"cvt.rn.satfinite{'.relu' * relu}.{name}x2.f32"
    rounded = partial(nearest, name, relu)
    check([(Case(text, lot), lambda a, b: rounded(single(a)) << 8 | rounded(single(b))) for lot in lots])


@pytest.mark.parametrize("name", LARGEST)
def test_halves_round_and_bytes_widen(name: str) -> None:
    grid = numbers(name)

    def widened(byte: int) -> int:
        size = byte & 0x7F
        if size >= len(grid):
            is_infinity = name == "e5m2" and size == 0x7C
            return 0x7C00 | (byte & 0x80) << 8 if is_infinity else NAN
        return F16.of(grid[size], -1.0) & 0x7FFF | (byte & 0x80) << 8

    pairs = [[at * 32 + lane | (255 - at * 32 - lane) << 8 for lane in range(LANES)] for at in range(8)]
    down = partial(nearest, name, False)
    check(
        [(Case(f"cvt.rn.f16x2.{name}x2", [lot]), lambda a: widened(a & 255) | widened(a >> 8) << 16) for lot in pairs]
        + [
            (
                Case(f"cvt.rn.satfinite.{name}x2.f16x2", lot),
                lambda a: down(F16.number(a & 0xFFFF)) | down(F16.number(a >> 16)) << 8,
            )
            for lot in tuples(["32"], lots=6)
        ]
    )
