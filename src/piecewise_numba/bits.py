"""Bit operations that are one machine instruction in compiled code."""

from __future__ import annotations

import functools
from typing import Any

from piecewise_numba.natives import native


@functools.cache
def _lowest_bit() -> Any:
    from numba.core import types
    from numba.extending import intrinsic

    kind: Any = types

    def count(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(kind.boolean, False))

        return kind.int64(kind.int64), generate

    return intrinsic(count)


@native(_lowest_bit)
def lowest_bit(bits: int) -> int:
    """The number of the lowest bit of a word of 64 bits; 64 if it has none."""
    return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64


def remainder(number: int, divisor: int) -> int:
    """``number % divisor`` of numbers that are not negative; a power of two, as most are, needs no division."""
    return number & divisor - 1 if divisor & divisor - 1 == 0 else number % divisor
