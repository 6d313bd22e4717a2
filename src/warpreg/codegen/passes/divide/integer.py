"""Integer quotients and remainders from a single-precision reciprocal.

With z at most 2**n / b, the residual is t = 2**n - z*b, and z + z*t / 2**n reduces the relative error to its square
(Newton).  The start is ``rcp.approx`` of b rounded up, less two units in the last place, so that z is never too large.
One step suffices for 32 bits and two for 64: the quotient z*a / 2**n is then at most two too small, which two
comparisons correct.  This holds for any reciprocal within one unit in the last place, as PTX guarantees.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.codegen.passes.divide.sequence import Sequence, constant
from warpreg.ir.instruction import Guard
from warpreg.ir.operands import Register

STEPS = {32: 1, 64: 2}
"""Newton steps by width."""
CORRECTIONS = 2
ULPS = 2
FRACTION_BITS = 23


@dataclass(frozen=True)
class _Words:
    """The opcodes' types for one width."""

    bits: int

    @property
    def unsigned(self) -> str:
        return f"u{self.bits}"

    @property
    def signed(self) -> str:
        return f"s{self.bits}"


def divide(seq: Sequence, a: Register, b: Register, bits: int, *, signed: bool, remainder: bool) -> Register:
    """The quotient truncated toward zero, or the remainder with the sign of ``a``.

    By zero, the quotient is all ones and the remainder ``a``.
    """
    kind = _Words(bits)
    if not signed:
        return _unsigned(seq, kind, a, b, remainder, zero=b)
    make = seq.word if bits == 32 else seq.long
    sizes = [make(f"abs.{kind.signed}", operand) for operand in (a, b)]
    result = _unsigned(seq, kind, sizes[0], sizes[1], remainder, zero=None)
    sign = a if remainder else make(f"xor.b{bits}", a, b)
    negative = seq.predicate(f"setp.lt.{kind.signed}", sign, constant(0))
    seq.add(f"neg.{kind.signed}", result, result, guard=Guard(negative))
    if not remainder:
        _all_ones_by_zero(seq, kind, result, b)
    return result


def _unsigned(
    seq: Sequence, kind: _Words, a: Register, b: Register, remainder: bool, zero: Register | None
) -> Register:
    bits, u = kind.bits, kind.unsigned
    make = seq.word if bits == 32 else seq.long
    negated = make(f"neg.{kind.signed}", b)
    z = _reciprocal(seq, kind, b)
    for _ in range(STEPS[bits]):
        missing = make(f"mul.lo.{u}", z, negated)
        z = make(f"mad.hi.{u}", z, missing, z)
    quotient = make(f"mul.hi.{u}", z, a)
    rest = make(f"mad.lo.{u}", quotient, negated, a)
    for step in range(CORRECTIONS):
        more = seq.predicate(f"setp.ge.{u}", rest, b)
        if remainder or step < CORRECTIONS - 1:
            seq.add(f"sub.{u}", rest, rest, b, guard=Guard(more))
        if not remainder:
            seq.add(f"add.{u}", quotient, quotient, constant(1), guard=Guard(more))
    if not remainder and zero is not None:
        _all_ones_by_zero(seq, kind, quotient, zero)
    return rest if remainder else quotient


def _reciprocal(seq: Sequence, kind: _Words, b: Register) -> Register:
    """2**bits / b, at most, to some 21 bits; 0 for b = 0."""
    above = seq.single(f"cvt.rp.f32.{kind.unsigned}", b)
    inverse = seq.single("rcp.approx.ftz.f32", above)
    scaled = seq.fresh(inverse.type)
    seq.add("add.s32", scaled, inverse, constant((kind.bits << FRACTION_BITS) - ULPS))
    make = seq.word if kind.bits == 32 else seq.long
    return make(f"cvt.rzi.ftz.{kind.unsigned}.f32", scaled)


def _all_ones_by_zero(seq: Sequence, kind: _Words, quotient: Register, b: Register) -> None:
    by_zero = seq.predicate(f"setp.eq.{kind.unsigned}", b, constant(0))
    seq.add(f"mov.b{kind.bits}", quotient, constant(-1), guard=Guard(by_zero))
