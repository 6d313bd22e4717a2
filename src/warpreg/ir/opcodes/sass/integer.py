"""Integer sums, products, comparisons and extrema of machine code.

Sources of the rules: programs of known meaning (64-bit sums, quotients, comparisons) through ``ptxas``.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import integer
from warpreg.ir.opcodes.arithmetic.compare import compared_integers
from warpreg.ir.opcodes.form import Form
from warpreg.ir.opcodes.sass.rows import as_ptx, row

V = TypeVar("V")

RELATIONS = "(LT|EQ|LE|GT|NE|GE)"
OPERATORS = "(AND|OR|XOR)"


def signed(f: Form) -> bool:
    """Whether operands are signed: unless ``.U32`` says otherwise."""
    return not f.has("U32")


def sum_of_three(m: Algebra[V], f: Form, a: V, b: V, c: V, p: V, q: V) -> tuple[V, V, V]:
    """a + b + c, with ``.X`` + p + q; the predicates say whether the sum reaches 2**32 and 2 * 2**32.

    A negated source counts as its complement plus 1, so that the carry of a subtraction means that nothing is borrowed.
    """
    values = sorted(zip((a, b, c), range(3), strict=True), key=lambda one: f.part(one[1]).negated)
    total, carries = m.constant(32, 0), m.constant(1, 0)
    both = m.constant(1, 0)
    terms = [(value, f.part(index).negated) for value, index in values]
    if f.has("X"):
        terms += [(m.zext(p, 32), False), (m.zext(q, 32), False)]
    for value, is_negated in terms:
        after = m.sub(total, value) if is_negated else m.add(total, value)
        carry = m.ult(after, value)
        if is_negated:
            carry = m.xor(m.ult(total, value), m.constant(1, 1))
        both = m.or_(both, m.and_(carries, carry))
        total, carries = after, m.or_(carries, carry)
    return total, carries, both


def multiply_add(m: Algebra[V], f: Form, a: V, b: V, c: V, p: V) -> tuple[V, V]:
    """a * b + c; ``.WIDE``: all 64 bits, ``.HI``: the upper word of the product plus a c of 64 bits; ``.X``: + p."""
    carry = m.zext(p, 64) if f.has("X") else m.constant(64, 0)
    if f.has("WIDE") or f.has("HI"):
        wide = m.sext if signed(f) else m.zext
        product = m.mul(wide(a, 64), wide(b, 64))
        total = m.add(m.add(product, c), carry)
        carries = m.ult(total, product)
        return (total if f.has("WIDE") else m.trunc(m.lshr(total, m.constant(64, 32)), 32)), carries
    total = m.add(m.add(m.mul(a, b), c), m.trunc(carry, 32))
    return total, m.ult(total, c)


def scaled_sum(m: Algebra[V], f: Form, *sources: V) -> tuple[V, V]:
    """``LEA``: (a << n) + b; with ``.HI`` the upper word of {c, a} << n, where c may be the sign of a (``.SX32``)."""
    *values, p = sources
    if f.has("HI"):
        low, addend, *upper, n = values
        high = upper[0] if upper else m.ashr(low, m.constant(32, 31))
        shifted = m.or_(m.shl(high, n), m.lshr(low, m.sub(m.constant(32, 32), n)))
    else:
        low, addend, n = values
        shifted = m.shl(low, n)
    total = m.add(shifted, addend)
    carries = m.ult(total, addend)
    if f.has("X"):
        before, total = total, m.add(total, m.zext(p, 32))
        carries = m.or_(carries, m.ult(total, before))
    return total, carries


def compare(m: Algebra[V], f: Form, a: V, b: V, p: V, lower: V | None = None) -> tuple[V, V]:
    """The relation, combined with p, and its inverse, combined with p.  ``.EX``: a and b are upper words, ``lower`` is
    the relation of the lower ones, which decides where the upper ones are equal."""
    relation = f.modifiers[0].lower()
    type_ = as_ptx(f, "setp", "s32" if signed(f) else "u32")
    holds = compared_integers(m, type_, relation, a, b)
    if lower is not None:
        holds = m.select(m.eq(a, b), lower, holds)
    return combined(m, f, holds, p), combined(m, f, m.xor(holds, m.constant(1, 1)), p)


def combined(m: Algebra[V], f: Form, holds: V, p: V) -> V:
    """A relation and a predicate by the operator among the modifiers."""
    if f.has("OR"):
        return m.or_(holds, p)
    return m.xor(holds, p) if f.has("XOR") else m.and_(holds, p)


def chosen(m: Algebra[V], f: Form, a: V, b: V, smallest: V) -> V:
    """The smaller value where the predicate holds, else the larger one."""
    less = (m.slt if signed(f) else m.ult)(a, b)
    return m.select(m.xor(less, smallest), b, a)


def chosen_halves(m: Algebra[V], f: Form, a: V, b: V, smallest: V) -> V:
    """`chosen` of both halves."""
    less = m.slt if f.has("S16x2") else m.ult
    result = m.constant(32, 0)
    for at in (0, 16):
        x, y = (m.trunc(m.lshr(one, m.constant(32, at)), 16) for one in (a, b))
        found = m.select(m.xor(less(x, y), smallest), y, x)
        result = m.or_(result, m.shl(m.zext(found, 32), m.constant(32, at)))
    return result


def chosen_of_three(m: Algebra[V], f: Form, a: V, b: V, c: V, smallest: V) -> V:
    return chosen(m, f, chosen(m, f, a, b, smallest), c, smallest)


def chosen_after_sum(m: Algebra[V], f: Form, a: V, b: V, c: V, smallest: V) -> V:
    return chosen(m, f, m.add(a, b), c, smallest)


def difference(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """|a - b| + c."""
    return integer.sum_of_differences(m, as_ptx(f, "sad", "s32" if signed(f) else "u32"), a, b, c)


def dot_product(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """Two halves by two bytes (``.2A``, of the lower or upper ones) or four bytes by four (``.4A``), plus c."""
    left, right = ("s32" if one.startswith("S") else "u32" for one in f.modifiers[-2:])
    if f.has("2A"):
        form = as_ptx(Form("IDP", ("HI",) if f.has("HI") else ("LO",), f.signature), "dp2a", left, right)
        return integer.dot_product_2(m, form, a, b, c)
    return integer.dot_product_4(m, as_ptx(Form("IDP", (), f.signature), "dp4a", left, right), a, b, c)


def absolute(m: Algebra[V], f: Form, a: V) -> V:
    zero = m.constant(32, 0)
    return m.select(m.slt(a, zero), m.sub(zero, a), a)


SETP = f"{RELATIONS}[.U32].{OPERATORS}[.EX]"
IMAD = "[.(MOV|SHL|IADD|X|WIDE|HI)][.U32][.X]"
LEA = "[.HI][.X][.SX32]"

OPCODES = (
    row("IADD3[.X]", sum_of_three, keeps_signs=True),
    row("UIADD3[.X]", sum_of_three, keeps_signs=True),
    row("UIADD3.64", lambda m, f, a, b, c: m.add(m.add(a, b), c)),
    row("VIADD", lambda m, f, a, b: m.add(a, b)),
    row(f"IMAD{IMAD}", multiply_add),
    row(f"UIMAD{IMAD}", multiply_add),
    row(f"LEA{LEA}", scaled_sum),
    row(f"ULEA{LEA}", scaled_sum),
    row(f"ISETP.{SETP}", compare),
    row(f"UISETP.{SETP}", compare),
    row("IMNMX[.U32]", chosen),
    row("UIMNMX[.U32]", chosen),
    row("VIMNMX[.U32]", chosen),
    row("VIMNMX.(U16x2|S16x2)", chosen_halves),
    row("VIMNMX3[.U32]", chosen_of_three),
    row("VIADDMNMX[.U32]", chosen_after_sum),
    row("VABSDIFF[.U32]", difference),
    row("IDP.(2A.(LO|HI).(U16|S16)|4A.(U8|S8)).(U8|S8)", dot_product),
    row("IABS", absolute),
)
