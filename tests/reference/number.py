"""Exact numbers for bit patterns: integers of any width, and binary floating point rounded from exact values.

A finite float is ``Exact(sign, number, exponent)``, with the magnitude ``number * 2**exponent`` and ``number >= 0``;
``sticky`` states that the true value lies strictly between this one and the next.  The host's floats are not used.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple


def mask(bits: int) -> int:
    return (1 << bits) - 1


def signed(value: int, bits: int) -> int:
    """The two's complement reading of the low ``bits`` bits."""
    value &= mask(bits)
    return value - (1 << bits) if value >> (bits - 1) else value


class Exact(NamedTuple):
    sign: int
    number: int
    exponent: int
    sticky: bool = False


@dataclass(frozen=True)
class Format:
    """A binary interchange format: ``precision`` counts the hidden bit, ``quantum`` is the exponent of the least
    denormal.
    """

    bits: int
    precision: int
    quantum: int
    nan: int

    @property
    def fraction_bits(self) -> int:
        return self.precision - 1

    @property
    def sign_bit(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return mask(self.bits - self.precision) << self.fraction_bits

    def magnitude(self, bits: int) -> int:
        return bits & mask(self.bits - 1)

    def sign(self, bits: int) -> int:
        return (bits >> (self.bits - 1)) & 1

    def is_nan(self, bits: int) -> bool:
        return self.magnitude(bits) > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return self.magnitude(bits) == self.infinity

    def is_zero(self, bits: int) -> bool:
        return self.magnitude(bits) == 0

    def is_denormal(self, bits: int) -> bool:
        return 0 < self.magnitude(bits) < (1 << self.fraction_bits)

    def signed_bits(self, sign: int, magnitude: int) -> int:
        return magnitude | (self.sign_bit if sign else 0)

    def exact(self, bits: int) -> Exact:
        """The value of a finite pattern."""
        field, fraction = divmod(self.magnitude(bits), 1 << self.fraction_bits)
        if field == 0:
            return Exact(self.sign(bits), fraction, self.quantum)
        return Exact(self.sign(bits), fraction + (1 << self.fraction_bits), self.quantum + field - 1)

    def flush(self, bits: int) -> int:
        """A denormal becomes the zero of its sign."""
        return bits & self.sign_bit if self.is_denormal(bits) else bits

    def round(self, value: Exact, mode: str) -> int:
        """The pattern nearest to ``value`` in mode ``rn`` (ties to even), ``rna`` (ties away from zero), ``rz``, ``rm``
        (down) or ``rp`` (up).
        """
        if value.number == 0 and not value.sticky:
            return self.signed_bits(value.sign, 0)
        top = value.number.bit_length() - 1 + value.exponent
        quantum = max(top - self.fraction_bits, self.quantum)
        kept = round_integer(value, quantum, mode)
        pattern = kept + ((quantum - self.quantum) << self.fraction_bits)
        if pattern >= self.infinity:
            towards_zero = mode == "rz" or (mode == "rm" and not value.sign) or (mode == "rp" and value.sign)
            pattern = self.infinity - 1 if towards_zero else self.infinity
        return self.signed_bits(value.sign, pattern)


F16 = Format(16, 11, -24, 0x7FFF)
F32 = Format(32, 24, -149, 0x7FFFFFFF)
F64 = Format(64, 53, -1074, 0x7FF8000000000000)
BF16 = Format(16, 8, -133, 0x7FFF)
FORMATS: dict[int | str, Format] = {
    16: F16, 32: F32, 64: F64, "f16": F16, "bf16": BF16, "f32": F32, "f64": F64
}  # fmt: skip
"""By width, and by name."""


def round_integer(value: Exact, quantum: int, mode: str) -> int:
    """The magnitude of ``value`` in units of ``2**quantum``, rounded to an integer."""
    shift = quantum - value.exponent
    if shift <= 0:
        kept, rest, half = value.number << -shift, 0, 1
    else:
        kept, rest, half = value.number >> shift, value.number & mask(shift), 1 << (shift - 1)
    inexact = rest != 0 or value.sticky
    if mode == "rn":
        up = rest > half or (rest == half and (value.sticky or kept & 1 == 1))
    elif mode == "rna":
        up = rest >= half and shift > 0
    elif mode == "rz":
        up = False
    elif mode == "rm":
        up = inexact and value.sign == 1
    elif mode == "rp":
        up = inexact and value.sign == 0
    else:
        raise ValueError(f"no rounding mode named {mode}")
    return kept + int(up)


def exact_sum(a: Exact, b: Exact, mode: str) -> Exact:
    """a + b.  A zero sum is negative if both are, or if they cancel and the mode rounds down (IEEE 754, 6.3)."""
    exponent = min(a.exponent, b.exponent)
    left = (-1) ** a.sign * (a.number << (a.exponent - exponent))
    right = (-1) ** b.sign * (b.number << (b.exponent - exponent))
    total = left + right
    if total == 0:
        return Exact(a.sign if a.sign == b.sign else int(mode == "rm"), 0, exponent)
    return Exact(int(total < 0), abs(total), exponent)


def exact_product(a: Exact, b: Exact) -> Exact:
    return Exact(a.sign ^ b.sign, a.number * b.number, a.exponent + b.exponent)


def exact_quotient(a: Exact, b: Exact) -> Exact:
    """a / b to 130 bits more than ``b`` has, with the rest as ``sticky``; ``b`` is not zero."""
    shift = 130 + b.number.bit_length()
    number, rest = divmod(a.number << shift, b.number)
    return Exact(a.sign ^ b.sign, number, a.exponent - b.exponent - shift, rest != 0)


def exact_root(a: Exact) -> Exact:
    """The square root to at least 64 bits, with the rest as ``sticky``; ``a`` is not negative."""
    shift = 130 + (a.exponent & 1)
    number = a.number << shift
    root = isqrt(number)
    return Exact(0, root, (a.exponent - shift) // 2, root * root != number)


def to_float(bits: int, width: int) -> float:
    """The host float with this pattern, for printing and for approximate functions only."""
    code = {32: "<If", 64: "<Qd"}[width]
    return float(struct.unpack("<" + code[2], struct.pack("<" + code[1], bits))[0])


def from_float(value: float, width: int, mode: str = "rn") -> int:
    """The pattern of ``width`` bits nearest to a host double."""
    bits = int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if width == 64:
        return bits
    if F64.is_nan(bits):
        return F32.nan
    if F64.is_infinite(bits):
        return F32.signed_bits(F64.sign(bits), F32.infinity)
    return F32.round(F64.exact(bits), mode)
