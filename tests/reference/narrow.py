"""``cvt`` to and from numbers of 16 bits and fewer, by search among all numbers of a format (PTX ISA, cvt).

Every format is a list of its magnitudes as fractions; a conversion finds the neighbours of an exact number in it.
``narrow`` returns the types and the function of an instruction, or None for conversions of other types.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from tests.reference.instruction import Pure
from tests.reference.number import F32, mask


@dataclass(frozen=True)
class Narrow:
    """``largest`` is the pattern of the largest number; ``infinity`` and ``nan`` those of the others, if any."""

    bits: int
    fraction: int
    bias: int
    largest: int
    infinity: int | None
    nan: int

    @cached_property
    def magnitudes(self) -> list[Fraction]:
        """Of all patterns without a sign up to the one after the largest number."""
        return [self.magnitude(pattern) for pattern in range(self.largest + 2)]

    def magnitude(self, pattern: int) -> Fraction:
        exponent, fraction = divmod(pattern, 1 << self.fraction)
        whole = fraction + ((1 << self.fraction) if exponent else 0)
        return Fraction(whole) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)

    def below(self, size: Fraction) -> int:
        """The pattern of the largest magnitude that is not above ``size``."""
        return bisect.bisect_right(self.magnitudes, size) - 1


FORMATS = {
    "f16": Narrow(16, 10, 15, 0x7BFF, 0x7C00, 0x7FFF),
    "bf16": Narrow(16, 7, 127, 0x7F7F, 0x7F80, 0x7FFF),
    "e4m3": Narrow(8, 3, 7, 0x7E, None, 0x7F),
    "e5m2": Narrow(8, 2, 15, 0x7B, 0x7C, 0x7F),
    "e2m3": Narrow(6, 3, 1, 0x1F, None, 0x1F),
    "e3m2": Narrow(6, 2, 3, 0x1F, None, 0x1F),
    "e2m1": Narrow(4, 1, 1, 0x07, None, 0x07),
}
SMALL = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
Round = Callable[[Narrow, Fraction], int]


def to_nearest(f: Narrow, size: Fraction) -> int:
    low = f.below(size)
    if low > f.largest:
        return low
    rest, step = size - f.magnitudes[low], f.magnitudes[low + 1] - f.magnitudes[low]
    return low + (2 * rest > step or (2 * rest == step and low & 1 == 1))


def at_random(bits: int, count: int) -> Round:
    """Upwards if the part of a step and the random bits, as another part, make a whole one."""

    def rounded(f: Narrow, size: Fraction) -> int:
        low = f.below(size)
        if low > f.largest:
            return low
        part = (size - f.magnitudes[low]) / (f.magnitudes[low + 1] - f.magnitudes[low])
        return low + (part + Fraction(bits, 1 << count) >= 1)

    return rounded


def from_single(f: Narrow, modifiers: Sequence[str], pattern: int, rounding: Round) -> int:
    if F32.is_nan(pattern):
        return f.nan
    sign, finite = F32.sign(pattern), "satfinite" in modifiers or f.infinity is None
    if "relu" in modifiers and sign:
        return 0
    if F32.is_infinite(pattern):
        size = f.largest + 1
    else:
        exact = F32.exact(pattern)
        size = rounding(f, Fraction(exact.number) * Fraction(2) ** exact.exponent)
    top = f.largest if finite else f.largest + 1
    return min(size, top) | sign << f.bits - 1


def number_of(f: Narrow, pattern: int) -> tuple[int, Fraction | None]:
    """Sign and magnitude; None for what is no number, where infinity counts as a very large one."""
    size = pattern & mask(f.bits - 1)
    sign = pattern >> f.bits - 1 & 1
    if size == f.infinity:
        return sign, Fraction(2) ** 200
    return sign, None if size > f.largest else f.magnitude(size)


def widened(f: Narrow, pattern: int) -> int:
    """The single-precision pattern of a narrow number; it is exact."""
    sign, size = number_of(f, pattern)
    if size is None:
        return F32.nan
    low = bisect.bisect_left(range(F32.infinity), size, key=lambda p: _single(p))
    return low | sign << 31


def _single(pattern: int) -> Fraction:
    exact = F32.exact(pattern)
    return Fraction(exact.number) * Fraction(2) ** exact.exponent


def narrow(modifiers: tuple[str, ...]) -> Pure | None:
    """``modifiers`` are those of a ``cvt``; operands come flat, results are whole patterns."""
    *_, to, source = modifiers
    if "pack" in modifiers:
        return _pack(modifiers)
    if "ue8m0x2" in (to, source):
        return _scales(modifiers, to, source)
    if source[:4] in SMALL:
        return _to_halves(modifiers, to, source)
    if "rs" in modifiers and to.endswith("x2"):
        return _random_pair(modifiers, to)
    if to[:4] in SMALL:
        return _random_four(modifiers, to) if to.endswith("x4") else _to_small(modifiers, to, source)
    return None


def _joined(patterns: Sequence[int], pitch: int) -> int:
    """The first pattern uppermost."""
    whole = 0
    for pattern in patterns:
        whole = whole << pitch | pattern
    return whole


def _to_small(modifiers: tuple[str, ...], to: str, source: str) -> Pure:
    f = FORMATS[to[:4]]
    pitch = max(f.bits, 4) if f.bits == 4 else 8

    def convert(*singles: int) -> int:
        return _joined([from_single(f, modifiers, s, to_nearest) for s in singles], pitch)

    if source == "f32":
        return Pure(f"b{2 * pitch}", ("f32", "f32"), convert)
    half = FORMATS[source.removesuffix("x2")]
    return Pure(f"b{2 * pitch}", ("b32",), lambda a: convert(widened(half, a >> 16), widened(half, a & 0xFFFF)))


def _to_halves(modifiers: tuple[str, ...], to: str, source: str) -> Pure:
    f, half = FORMATS[source[:4]], FORMATS[to.removesuffix("x2")]
    pitch = 4 if f.bits == 4 else 8

    def convert(a: int) -> int:
        singles = [widened(f, a >> at & mask(f.bits)) for at in (pitch, 0)]
        return _joined([from_single(half, modifiers, s, to_nearest) for s in singles], 16)

    return Pure("b32", (f"b{2 * pitch}",), convert)


def _random_pair(modifiers: tuple[str, ...], to: str) -> Pure:
    f, count = FORMATS[to.removesuffix("x2")], 13 if to == "f16x2" else 16

    def convert(a: int, b: int, random: int) -> int:
        chunks = (random >> 16 & mask(count), random & mask(count))
        pairs = zip((a, b), chunks, strict=True)
        return _joined([from_single(f, modifiers, s, at_random(c, count)) for s, c in pairs], 16)

    return Pure("b32", ("f32", "f32", "b32"), convert)


def _random_four(modifiers: tuple[str, ...], to: str) -> Pure:
    f = FORMATS[to[:4]]
    pitch = 4 if f.bits == 4 else 8

    def reverse(chunk: int) -> int:
        return int(f"{chunk:016b}"[::-1], 2)

    def convert(a: int, b: int, c: int, d: int, random: int) -> int:
        top, upper, lower, bottom = random.to_bytes(4, "big")
        first, second = (top, upper), (lower, bottom)
        if pitch == 4:
            first, second = (top, lower), (upper, bottom)
        one, two = (x << 8 | y for x, y in (first, second))
        chunks = (reverse(one), one, reverse(two), two)
        pairs = zip((a, b, c, d), chunks, strict=True)
        return _joined([from_single(f, modifiers, s, at_random(k, 16)) for s, k in pairs], pitch)

    return Pure(f"b{4 * pitch}", ("f32",) * 4 + ("b32",), convert)


def _scales(modifiers: tuple[str, ...], to: str, source: str) -> Pure:
    if source == "ue8m0x2":
        return Pure("b32", ("b16",), lambda a: _joined([_power(a >> 8), _power(a & 0xFF)], 16))

    def convert(*singles: int) -> int:
        return _joined([_scale(modifiers, s) for s in singles], 8)

    if source == "f32":
        return Pure("b16", ("f32", "f32"), convert)
    return Pure("b16", ("b32",), lambda a: convert(a & 0xFFFF0000, a << 16 & 0xFFFF0000))


def _scale(modifiers: Sequence[str], pattern: int) -> int:
    """The exponent whose power of two is next to the magnitude, from 2**-127 on."""
    if F32.is_nan(pattern):
        return 0xFF
    if F32.is_infinite(pattern):
        return 0xFE if "satfinite" in modifiers else 0xFF
    size = _single(F32.magnitude(pattern))
    powers = [Fraction(2) ** (n - 127) for n in range(0x100)]
    found = bisect.bisect_left(powers, size) if "rp" in modifiers else max(0, bisect.bisect_right(powers, size) - 1)
    return min(found, 0xFE) if "satfinite" in modifiers else found


def _power(exponent: int) -> int:
    if exponent == 0xFF:
        return FORMATS["bf16"].nan
    return bisect.bisect_left(FORMATS["bf16"].magnitudes, Fraction(2) ** (exponent - 127))


def _pack(modifiers: tuple[str, ...]) -> Pure:
    kind, bits = modifiers[2][0], int(modifiers[2][1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s" else (0, mask(bits))

    def clamped(pattern: int) -> int:
        value = pattern - (1 << 32) if pattern >> 31 else pattern
        return max(low, min(high, value)) & mask(bits)

    def convert(a: int, b: int, c: int = 0) -> int:
        return (c << 2 * bits | clamped(a) << bits | clamped(b)) & mask(32)

    return Pure("b32", ("b32",) * (2 if bits == 16 else 3), convert)
