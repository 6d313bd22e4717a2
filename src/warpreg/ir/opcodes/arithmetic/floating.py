"""Floating-point arithmetic of single and double precision (PTX ISA, section 9.7.3)."""

from __future__ import annotations

import struct
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

ROUNDING = "(rn|rz|rm|rp)"
NAN = {32: 0x7FFFFFFF, 64: 0x7FF8000000000000}
"""The NaN result of arithmetic, by width."""
EXPONENT = {32: 0x7F800000, 64: 0x7FF0000000000000}
"""The exponent field: infinity, and the bound of finite numbers."""


def number(m: Algebra[V], bits: int, value: float) -> V:
    """A constant, rounded to the format of this width."""
    packed = struct.pack("<f", value) if bits == 32 else struct.pack("<d", value)
    return m.constant(bits, int.from_bytes(packed, "little"))


def sign_of(m: Algebra[V], a: V) -> V:
    return m.and_(a, m.constant(m.width(a), 1 << m.width(a) - 1))


def magnitude(m: Algebra[V], a: V) -> V:
    return m.and_(a, m.constant(m.width(a), (1 << m.width(a) - 1) - 1))


def negative(m: Algebra[V], a: V) -> V:
    return m.xor(a, m.constant(m.width(a), 1 << m.width(a) - 1))


def is_nan(m: Algebra[V], a: V) -> V:
    return m.fcmp("uno", a, a)


def canonical(m: Algebra[V], a: V) -> V:
    """a, with every NaN replaced by that of `NAN`."""
    return m.select(is_nan(m, a), m.constant(m.width(a), NAN[m.width(a)]), a)


def flushed(m: Algebra[V], f: Form, a: V) -> V:
    """With ``.ftz``, a subnormal f32 is replaced by the zero of its sign."""
    if not f.ftz or m.width(a) != 32:
        return a
    subnormal = m.eq(m.and_(a, m.constant(32, EXPONENT[32])), m.constant(32, 0))
    return m.select(subnormal, sign_of(m, a), a)


def saturated(m: Algebra[V], a: V) -> V:
    """Clamp to [0, 1]; NaN becomes +0."""
    zero, one = number(m, m.width(a), 0.0), number(m, m.width(a), 1.0)
    a = m.select(m.fcmp("olt", zero, a), a, zero)
    return m.select(m.fcmp("olt", a, one), a, one)


def finished(m: Algebra[V], f: Form, a: V) -> V:
    """Apply ``.ftz``, ``.sat`` and the canonical NaN to a raw result."""
    a = flushed(m, f, a)
    return saturated(m, a) if f.sat else canonical(m, a)


def add(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return finished(m, f, m.fadd(flushed(m, f, a), flushed(m, f, b), f.rounding))


def sub(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return finished(m, f, m.fsub(flushed(m, f, a), flushed(m, f, b), f.rounding))


def mul(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return finished(m, f, m.fmul(flushed(m, f, a), flushed(m, f, b), f.rounding))


def fma(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return finished(m, f, m.fma(flushed(m, f, a), flushed(m, f, b), flushed(m, f, c), f.rounding))


def div(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return finished(m, f, m.fdiv(flushed(m, f, a), flushed(m, f, b), f.rounding))


def div_approximate(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a * (1/b): for |b| above 2**126 the reciprocal underflows and the quotient is a zero, or NaN if a is infinite."""
    a, b = flushed(m, f, a), flushed(m, f, b)
    size = magnitude(m, b)
    lost = m.and_(m.fcmp("olt", number(m, 32, 2.0**126), size), m.fcmp("olt", size, m.constant(32, EXPONENT[32])))
    divisor = m.select(lost, m.or_(sign_of(m, b), m.constant(32, EXPONENT[32])), b)
    return finished(m, f, m.fdiv(a, divisor))


def rcp(m: Algebra[V], f: Form, a: V) -> V:
    return finished(m, f, m.fdiv(number(m, f.bits, 1.0), flushed(m, f, a), f.rounding))


def sqrt(m: Algebra[V], f: Form, a: V) -> V:
    return finished(m, f, m.fsqrt(flushed(m, f, a), f.rounding))


def rsqrt(m: Algebra[V], f: Form, a: V) -> V:
    return finished(m, f, m.fdiv(number(m, f.bits, 1.0), m.fsqrt(flushed(m, f, a))))


def absolute(m: Algebra[V], f: Form, a: V) -> V:
    return magnitude(m, flushed(m, f, a))


def neg(m: Algebra[V], f: Form, a: V) -> V:
    return negative(m, flushed(m, f, a))


def copysign(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """The magnitude of b with the sign of a."""
    return m.or_(sign_of(m, a), magnitude(m, b))


def extremum(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """``min`` or ``max`` of the operands that are not NaN; with ``.NaN``, any NaN gives NaN; ``.xorsign.abs`` compares
    magnitudes.
    """
    a, b = flushed(m, f, a), flushed(m, f, b)
    choose = m.fmin if f.opcode == "min" else m.fmax
    if f.has("abs"):
        chosen = m.or_(choose(magnitude(m, a), magnitude(m, b)), sign_of(m, m.xor(a, b)))
    else:
        chosen = choose(a, b)
    if f.has("NaN"):
        return m.select(m.fcmp("uno", a, b), m.constant(f.bits, NAN[f.bits]), chosen)
    return canonical(m, chosen)


def extremum_of_three(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """As `extremum`; ``.abs`` compares magnitudes and returns one."""
    values = [flushed(m, f, x) for x in (a, b, c)]
    if f.has("abs"):
        values = [magnitude(m, x) for x in values]
    choose = m.fmin if f.opcode == "min" else m.fmax
    a, b, c = values
    chosen = canonical(m, choose(choose(a, b), c))
    unordered = m.or_(m.fcmp("uno", a, b), is_nan(m, c))
    return m.select(unordered, m.constant(32, NAN[32]), chosen) if f.has("NaN") else chosen


def test_property(m: Algebra[V], f: Form, a: V) -> V:
    """Zero counts as normal."""
    size, infinity, zero = magnitude(m, a), m.constant(f.bits, EXPONENT[f.bits]), m.constant(f.bits, 0)
    smallest = m.constant(f.bits, EXPONENT[f.bits] & -EXPONENT[f.bits])
    finite, subnormal = m.ult(size, infinity), m.and_(m.ult(size, smallest), m.ult(zero, size))
    true = m.constant(1, 1)
    return {
        "finite": lambda: finite,
        "infinite": lambda: m.eq(size, infinity),
        "number": lambda: m.xor(is_nan(m, a), true),
        "notanumber": lambda: is_nan(m, a),
        "normal": lambda: m.and_(finite, m.xor(subnormal, true)),
        "subnormal": lambda: subnormal,
    }[f.modifiers[0]]()


SUM = Trait.COMMUTES | Trait.IGNORES_NAN_BITS
"""Sums, products and extremes."""

OPCODES = (
    Opcode(f"add[.{ROUNDING}][.ftz][.sat].f32", "T <- T T", add, traits=SUM),
    Opcode(f"add[.{ROUNDING}].f64", "T <- T T", add, Unit.DP, traits=SUM),
    Opcode(f"sub[.{ROUNDING}][.ftz][.sat].f32", "T <- T T", sub, traits=Trait.IGNORES_NAN_BITS),
    Opcode(f"sub[.{ROUNDING}].f64", "T <- T T", sub, Unit.DP, traits=Trait.IGNORES_NAN_BITS),
    Opcode(f"mul[.{ROUNDING}][.ftz][.sat].f32", "T <- T T", mul, traits=SUM),
    Opcode(f"mul[.{ROUNDING}].f64", "T <- T T", mul, Unit.DP, traits=SUM),
    Opcode(f"fma.{ROUNDING}[.ftz][.sat].f32", "T <- T T T", fma, traits=SUM),
    Opcode(f"mad.{ROUNDING}[.ftz][.sat].f32", "T <- T T T", fma, traits=Trait.COMMUTES),
    Opcode(f"fma.{ROUNDING}.f64", "T <- T T T", fma, Unit.DP, traits=SUM),
    Opcode(f"mad.{ROUNDING}.f64", "T <- T T T", fma, Unit.DP, traits=Trait.COMMUTES),
    Opcode("div.approx[.ftz].f32", "T <- T T", div_approximate, Unit.SFU),
    Opcode("div.full[.ftz].f32", "T <- T T", div, Unit.SFU),
    Opcode(f"div.{ROUNDING}[.ftz].f32", "T <- T T", div, Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode(f"div.{ROUNDING}.f64", "T <- T T", div, Unit.DP, traits=Trait.SUBROUTINE),
    Opcode("rcp.(approx|rn|rz|rm|rp)[.ftz].f32", "T <- T", rcp, Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode(f"rcp.{ROUNDING}[.ftz].f64", "T <- T", rcp, Unit.DP, traits=Trait.SUBROUTINE),
    Opcode("sqrt.(approx|rn|rz|rm|rp)[.ftz].f32", "T <- T", sqrt, Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode(f"sqrt.{ROUNDING}.f64", "T <- T", sqrt, Unit.DP, traits=Trait.SUBROUTINE),
    Opcode("rsqrt.approx[.ftz].f32", "T <- T", rsqrt, Unit.SFU),
    Opcode("rsqrt.approx.f64", "T <- T", rsqrt, Unit.DP),
    Opcode("abs[.ftz].f32", "T <- T", absolute),
    Opcode("abs.f64", "T <- T", absolute, Unit.DP),
    Opcode("neg[.ftz].f32", "T <- T", neg),
    Opcode("neg.f64", "T <- T", neg, Unit.DP),
    Opcode("copysign.(f32|f64)", "T <- T T", copysign),
    Opcode("min[.ftz][.NaN][.xorsign.abs].f32", "T <- T T", extremum, traits=SUM),
    Opcode("min[.ftz][.NaN][.abs].f32", "T <- T T T", extremum_of_three, traits=SUM),
    Opcode("min.f64", "T <- T T", extremum, Unit.DP, traits=SUM),
    Opcode("max[.ftz][.NaN][.xorsign.abs].f32", "T <- T T", extremum, traits=SUM),
    Opcode("max[.ftz][.NaN][.abs].f32", "T <- T T T", extremum_of_three, traits=SUM),
    Opcode("max.f64", "T <- T T", extremum, Unit.DP, traits=SUM),
    Opcode(
        "testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)",
        "pred <- T",
        test_property,
        constants=False,
    ),
)
