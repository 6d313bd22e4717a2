"""Floating-point arithmetic and elementary functions of machine code."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import elementary, floating
from warpreg.ir.opcodes.arithmetic.compare import compared_numbers
from warpreg.ir.opcodes.arithmetic.floating import EXPONENT, flushed, magnitude, number
from warpreg.ir.opcodes.form import Form, Meaning, Unit
from warpreg.ir.opcodes.sass.integer import OPERATORS, combined
from warpreg.ir.opcodes.sass.rows import RELATIONS, ROUNDING, as_ptx, row
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

FLUSHING = ("ftz",)
"""``MUFU`` takes a subnormal number for 0; code that must not scales the number before."""

FLAGS = f"[.FTZ]{ROUNDING}[.FTZ][.SAT]"


def like(meaning: Any, opcode: str, type_: str, more: tuple[str, ...] = ()) -> Meaning:
    """The meaning of an opcode of PTX, with ``more`` modifiers."""
    return lambda m, f, *sources: meaning(m, as_ptx(f, opcode, type_, more=more), *sources)


def halved_product(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """``FMUL.D2``: half of the product."""
    form = as_ptx(f, "mul", "f32")
    return floating.mul(m, form, floating.mul(m, form, a, b), number(m, 32, 0.5))


def smallest_or_largest(type_: str) -> Meaning:
    """The smaller number where the predicate holds, else the larger one; with ``.XORSIGN`` by magnitude, and the result
    has the product of the signs."""

    def meaning(m: Algebra[V], f: Form, a: V, b: V, smallest: V) -> V:
        more = (*(("NaN",) if f.has("NAN") else ()), *(("abs",) if f.has("XORSIGN") else ()))
        low, high = (floating.extremum(m, as_ptx(f, opcode, type_, more=more), a, b) for opcode in ("min", "max"))
        return m.select(smallest, low, high)

    return meaning


def compare(m: Algebra[V], f: Form, a: V, b: V, p: V) -> tuple[V, V]:
    """The relation, combined with p, and its inverse, combined with p."""
    holds = relation(m, f, a, b)
    return combined(m, f, holds, p), combined(m, f, m.xor(holds, m.constant(1, 1)), p)


def relation(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """The relation that the modifiers name."""
    form = as_ptx(f, "setp", "f32")
    name = next(one for one in form.modifiers if one not in ("bf", "ftz"))
    return compared_numbers(m, name, flushed(m, form, a), flushed(m, form, b))


def smaller_or_larger(m: Algebra[V], f: Form, a: V, b: V, p: V) -> tuple[V, V]:
    """``DSETP.MIN`` and ``.MAX``: whether the result is a; and whether both are NaN."""
    chosen = (m.fmin if f.has("MIN") else m.fmax)(a, b)
    a_is_nan, b_is_nan = floating.is_nan(m, a), floating.is_nan(m, b)
    is_a = m.select(a_is_nan, m.constant(1, 0), m.select(b_is_nan, m.constant(1, 1), m.eq(chosen, a)))
    return combined(m, f, is_a, p), combined(m, f, m.and_(a_is_nan, b_is_nan), p)


def compare_to_number(m: Algebra[V], f: Form, a: V, b: V, p: V) -> V:
    """``FSET.BF``: 1.0 or 0.0."""
    holds = combined(m, f, relation(m, f, a, b), p)
    return m.select(holds, number(m, 32, 1.0), number(m, 32, 0.0))


def needs_care(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """``FCHK``: whether the short sequence for a / b could be wrong, so that the subroutine must be called.

    The vendor does not say when.  Here it holds unless the quotient, the reciprocal of b and the rest of a are normal
    numbers: a and b are normal, a has at least 2**-101 and b at most 2**125, and their exponents differ by at most 124.
    """
    exponents = [m.and_(m.lshr(one, m.constant(32, 23)), m.constant(32, 0xFF)) for one in (a, b)]
    above, below = exponents
    normal = m.and_(within(m, above, 26, 254), within(m, below, 1, 252))
    difference = m.add(m.sub(above, below), m.constant(32, 124))
    return m.xor(m.and_(normal, within(m, difference, 0, 248)), m.constant(1, 1))


def within(m: Algebra[V], a: V, low: int, high: int) -> V:
    """Whether an integer is in a range, both ends included."""
    return m.ult(m.sub(a, m.constant(32, low)), m.constant(32, high - low + 1))


def turned(opcode: str) -> Meaning:
    """Sine or cosine of a number of turns."""

    def meaning(m: Algebra[V], f: Form, a: V) -> V:
        rest = m.fsub(a, m.fround(a, "rn"))
        angle = m.fmul(rest, number(m, 32, 2 * math.pi))
        finite = m.ult(magnitude(m, a), m.constant(32, EXPONENT[32]))
        return elementary.circular(m, as_ptx(f, opcode, "f32"), m.select(finite, angle, a))

    return meaning


def root(m: Algebra[V], f: Form, a: V) -> V:
    return floating.sqrt(m, as_ptx(f, "sqrt", "f32", more=FLUSHING), a)


def of_upper_word(meaning: Any) -> Meaning:
    """A function of a double of which only the upper words are given."""

    def of_word(m: Algebra[V], f: Form, a: V) -> V:
        wide = m.shl(m.zext(a, 64), m.constant(64, 32))
        return m.trunc(m.lshr(meaning(m, as_ptx(f, "rcp", "f64"), wide), m.constant(64, 32)), 32)

    return of_word


SFU, DP = Unit.SFU, Unit.DP
SETP = f"{RELATIONS}[.FTZ].{OPERATORS}"

BLIND = Trait.IGNORES_NAN_BITS

OPCODES = (
    row(f"FADD{FLAGS}", like(floating.add, "add", "f32"), traits=BLIND),
    row(f"FMUL{FLAGS}", like(floating.mul, "mul", "f32"), traits=BLIND),
    row("FMUL.D2[.FTZ]", halved_product, traits=BLIND),
    row(f"FFMA{FLAGS}", like(floating.fma, "fma", "f32"), traits=BLIND),
    row("FMNMX[.FTZ][.NAN][.XORSIGN]", smallest_or_largest("f32"), traits=BLIND),
    row(f"FSETP.{SETP}", compare, traits=BLIND),
    row(f"FSET.BF.{SETP}", compare_to_number, traits=BLIND),
    row("FCHK[.DIVIDE]", needs_care),
    row("MUFU.RCP", like(floating.rcp, "rcp", "f32", FLUSHING), SFU),
    row("MUFU.RSQ", like(floating.rsqrt, "rsqrt", "f32", FLUSHING), SFU),
    row("MUFU.SQRT", root, SFU),
    row("MUFU.EX2", like(elementary.ex2, "ex2", "f32", FLUSHING), SFU),
    row("MUFU.LG2", like(elementary.lg2, "lg2", "f32", FLUSHING), SFU),
    row("MUFU.SIN", turned("sin"), SFU),
    row("MUFU.COS", turned("cos"), SFU),
    row("MUFU.TANH", like(elementary.tanh, "tanh", "f32"), SFU),
    row("MUFU.RCP64H", of_upper_word(elementary.rough_reciprocal), SFU),
    row("MUFU.RSQ64H", of_upper_word(elementary.rough_reciprocal_root), SFU),
    row(f"DADD{ROUNDING}", like(floating.add, "add", "f64"), DP, traits=BLIND),
    row(f"DMUL{ROUNDING}", like(floating.mul, "mul", "f64"), DP, traits=BLIND),
    row(f"DFMA{ROUNDING}", like(floating.fma, "fma", "f64"), DP, traits=BLIND),
    row("DMNMX", smallest_or_largest("f64"), DP, traits=BLIND),
    row(f"DSETP.{RELATIONS}.{OPERATORS}", compare, DP, traits=BLIND),
    row(f"DSETP.(MIN|MAX).{OPERATORS}", smaller_or_larger, DP, traits=BLIND),
)
