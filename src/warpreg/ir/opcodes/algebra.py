"""The operations on values from which every opcode's meaning is composed.

A *value* is a bundle of bits of one width (1 for predicates) in each of 32 lanes; an implementation may be LLVM
vectors, lists of Python integers, or symbols.  Operands and result of an operation have the same width unless stated
otherwise.  Values have no type: each operation defines whether its operands are unsigned, signed or IEEE 754 numbers.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

V = TypeVar("V")


class Algebra(Protocol[V]):
    """The operations of an implementation; see `warpreg.ir.opcodes` for the conventions on undefined cases."""

    def constant(self, bits: int, value: int) -> V:
        """The same ``value`` (taken modulo 2**bits) in every lane."""

    def lane_ids(self) -> V:
        """0 to 31, as 32-bit values."""

    def width(self, a: V) -> int:
        """Bits of one lane."""

    def zext(self, a: V, bits: int) -> V:
        """Zero-extend to ``bits``, which is at least the width."""

    def sext(self, a: V, bits: int) -> V:
        """Sign-extend to ``bits``, which is at least the width."""

    def trunc(self, a: V, bits: int) -> V:
        """The low ``bits``, which are at most the width."""

    def add(self, a: V, b: V) -> V:
        """a + b, modulo 2**width."""

    def sub(self, a: V, b: V) -> V:
        """a - b, modulo 2**width."""

    def mul(self, a: V, b: V) -> V:
        """a * b, modulo 2**width."""

    def umulh(self, a: V, b: V) -> V:
        """The high half of the unsigned product of double width."""

    def smulh(self, a: V, b: V) -> V:
        """The high half of the signed product of double width."""

    def udiv(self, a: V, b: V) -> V:
        """Unsigned quotient; all ones where b is 0."""

    def urem(self, a: V, b: V) -> V:
        """Unsigned remainder; a where b is 0."""

    def sdiv(self, a: V, b: V) -> V:
        """Signed quotient truncated toward 0; -1 where b is 0; the smallest integer divided by -1 is itself."""

    def srem(self, a: V, b: V) -> V:
        """Signed remainder with the sign of a; a where b is 0."""

    def and_(self, a: V, b: V) -> V:
        """Bitwise and."""

    def or_(self, a: V, b: V) -> V:
        """Bitwise or."""

    def xor(self, a: V, b: V) -> V:
        """Bitwise exclusive or."""

    def shl(self, a: V, n: V) -> V:
        """a shifted left; 0 where n >= width."""

    def lshr(self, a: V, n: V) -> V:
        """a shifted right, zeros coming in; 0 where n >= width."""

    def ashr(self, a: V, n: V) -> V:
        """a shifted right, the sign coming in; all sign where n >= width."""

    def ctpop(self, a: V) -> V:
        """Number of ones."""

    def ctlz(self, a: V) -> V:
        """Number of zeros above the highest one; the width where a is 0."""

    def bitreverse(self, a: V) -> V:
        """Bit i becomes bit width-1-i."""

    def eq(self, a: V, b: V) -> V:
        """Predicate a = b."""

    def ult(self, a: V, b: V) -> V:
        """Predicate a < b, unsigned."""

    def slt(self, a: V, b: V) -> V:
        """Predicate a < b, signed."""

    def select(self, p: V, a: V, b: V) -> V:
        """a where the predicate p holds, else b."""

    def fadd(self, a: V, b: V, rounding: str = "rn") -> V:
        """a + b, of width 32 or 64; ``rounding`` is rn (nearest, ties to even), rz, rm (down) or rp (up).

        Here and below: which NaN an operation returns is open; subnormal numbers are kept.
        """

    def fsub(self, a: V, b: V, rounding: str = "rn") -> V:
        """a - b."""

    def fmul(self, a: V, b: V, rounding: str = "rn") -> V:
        """a * b."""

    def fdiv(self, a: V, b: V, rounding: str = "rn") -> V:
        """a / b."""

    def fma(self, a: V, b: V, c: V, rounding: str = "rn") -> V:
        """a * b + c, rounded once."""

    def fsqrt(self, a: V, rounding: str = "rn") -> V:
        """Square root."""

    def fmin(self, a: V, b: V) -> V:
        """The smaller number, -0 below +0; the other operand where one is NaN."""

    def fmax(self, a: V, b: V) -> V:
        """The larger number, +0 above -0; the other operand where one is NaN."""

    def fcmp(self, relation: str, a: V, b: V) -> V:
        """Predicate: ``oeq``, ``olt``, ``ole`` (false where an operand is NaN) or ``uno`` (true where one is NaN)."""

    def fround(self, a: V, rounding: str) -> V:
        """Rounded to an integer that is still a floating-point number; keeps the sign of zero."""

    def float_resize(self, a: V, bits: int, rounding: str = "rn") -> V:
        """The same number in the other floating-point format."""

    def int_to_float(self, a: V, signed: bool, bits: int, rounding: str = "rn") -> V:
        """An integer of any width as a floating-point number of ``bits``."""

    def float_to_int(self, a: V, signed: bool, bits: int) -> V:
        """Truncated toward 0 and clamped to the integers of ``bits``; 0 for NaN."""

    def permute(self, a: V, source: V) -> V:
        """Each lane receives a of the lane given by its 32-bit ``source`` (0 to 31)."""

    def ballot(self, p: V) -> V:
        """The same 32-bit value in every lane; its bit i is the predicate of lane i."""
