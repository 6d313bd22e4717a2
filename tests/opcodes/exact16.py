"""The 16-bit formats with exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.opcodes import exact

NAN = 0x7FFF


@dataclass(frozen=True)
class Small:
    """A format of 16 bits with so many digits."""

    name: str
    precision: int

    @property
    def bias(self) -> int:
        return (1 << 15 - self.precision) - 1

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.precision - 1

    @property
    def one(self) -> int:
        return self.bias << self.precision - 1

    def number(self, bits: int) -> float:
        """As a double, which holds every one exactly."""
        mantissa = bits & (1 << self.precision - 1) - 1
        exponent = (bits & 0x7FFF) >> self.precision - 1
        sign = -1.0 if bits >> 15 else 1.0
        if bits & 0x7FFF > self.infinity:
            return math.nan
        if bits & 0x7FFF == self.infinity:
            return sign * math.inf
        if exponent:
            mantissa |= 1 << self.precision - 1
        return sign * math.ldexp(mantissa, max(exponent, 1) - self.bias - self.precision + 1)

    def rounded(self, x: Fraction, mode: str = "rn") -> int:
        """The bits of a number that is not 0."""
        size, sign = abs(x), int(x < 0)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        quantum = max(exponent, 1 - self.bias) - self.precision + 1
        mirrored = {"rm": "rp", "rp": "rm"}.get(mode, mode) if sign else mode
        steps = exact.rounded_integer(size / Fraction(2) ** quantum, mirrored)
        bits = steps + ((quantum + self.precision - 2 + self.bias) << self.precision - 1)
        if bits >= self.infinity:
            bits = self.infinity - (mirrored in ("rz", "rm"))
        return bits | sign << 15

    def of(self, x: Fraction | float, sign: float = 1.0, mode: str = "rn") -> int:
        """The bits of a number or NaN; ``sign`` is that of a zero."""
        if isinstance(x, float) and not math.isfinite(x):
            return NAN if math.isnan(x) else self.infinity | int(x < 0) << 15
        negative = math.copysign(1.0, sign) < 0
        return int(negative) << 15 if x == 0 else self.rounded(Fraction(x), mode)

    def apply(self, function: Callable[..., Any], *operands: int, mode: str = "rn") -> int:
        """A function of numbers, rounded once; infinities and zeros as doubles treat them."""
        numbers = [self.number(a) for a in operands]
        near = function(*numbers)
        if not all(map(math.isfinite, numbers)):
            return self.of(near)
        return self.of(function(*map(Fraction, numbers)), near, mode)

    def flushed(self, bits: int) -> int:
        return bits if bits & self.infinity else bits & 0x8000

    def saturated(self, bits: int) -> int:
        return 0 if bits >> 15 or bits == NAN else min(bits, self.one)


F16, BF16 = Small("f16", 11), Small("bf16", 8)
EDGES = {
    F16: (0, 1, 2, 0x3FF, 0x400, 0x401, 0x7FF, 0x3BFF, 0x3C00, 0x3C01, 0x3800, 0x4248, 0x6400, 0x7BFE, 0x7BFF, 0x7C00,
          0x7C01, 0x7E00, 0x1400, 0x0C00, 0x5BFF),
    BF16: (0, 1, 2, 0x7F, 0x80, 0x81, 0x3F7F, 0x3F80, 0x3F81, 0x3F00, 0x4049, 0x4B00, 0x7F7E, 0x7F7F, 0x7F80, 0x7F81,
           0x7FC0, 0x2000, 0x1F80, 0x5F00, 0x0100),
}  # fmt: skip
"""Zeros, subnormals, one and its neighbours, the largest numbers, infinity and NaNs; half of all have a sign."""
