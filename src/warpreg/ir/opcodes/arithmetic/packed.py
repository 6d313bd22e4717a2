"""Pairs in one register: f32x2 (PTX ISA, section 9.7.3) and 16-bit integers x2 (9.7.1)."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import floating
from warpreg.ir.opcodes.arithmetic.floating import ROUNDING
from warpreg.ir.opcodes.arithmetic.integer import clamp_signed, less
from warpreg.ir.opcodes.arithmetic.sixteen_bit import halves, joined
from warpreg.ir.opcodes.form import Form, Meaning, Opcode
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")


def both(operation: Meaning) -> Meaning:
    """A meaning that applies the operation to the lower and to the upper elements."""

    def meaning(m: Algebra[V], f: Form, *operands: V) -> V:
        columns = zip(*(halves(m, a) for a in operands), strict=True)
        results: list[V] = [operation(m, f, *column) for column in columns]
        return joined(m, results[0], results[1])

    return meaning


def saturating(operation: Meaning) -> Meaning:
    """A sum or difference of 16-bit integers clamped to their range."""

    def meaning(m: Algebra[V], f: Form, a: V, b: V) -> V:
        if f.signed:
            exact: V = operation(m, m.sext(a, 32), m.sext(b, 32))
            return clamp_signed(m, exact, 16)
        wide: V = operation(m, m.zext(a, 32), m.zext(b, 32))
        zero, most = m.constant(32, 0), m.constant(32, 0xFFFF)
        bounded = m.select(m.slt(wide, zero), zero, m.select(m.slt(most, wide), most, wide))
        return m.trunc(bounded, 16)

    return meaning


def smaller(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return m.select(less(m, f, a, b), a, b)


def larger(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return m.select(less(m, f, a, b), b, a)


def rectified(operation: Meaning) -> Meaning:
    """``.relu``: a negative result becomes 0."""

    def meaning(m: Algebra[V], f: Form, a: V, b: V) -> V:
        value: V = operation(m, f, a, b)
        zero = m.constant(m.width(value), 0)
        return m.select(m.slt(value, zero), zero, value)

    return meaning


INTEGER_SUMS: tuple[tuple[str, Meaning, Trait], ...] = (
    ("add", lambda m, a, b: m.add(a, b), Trait.COMMUTES),
    ("sub", lambda m, a, b: m.sub(a, b), Trait.NONE),
)

OPCODES = (
    Opcode(f"add[.{ROUNDING}][.ftz].f32x2", "T <- T T", both(floating.add), traits=Trait.COMMUTES),
    Opcode(f"sub[.{ROUNDING}][.ftz].f32x2", "T <- T T", both(floating.sub)),
    Opcode(f"mul[.{ROUNDING}][.ftz].f32x2", "T <- T T", both(floating.mul), traits=Trait.COMMUTES),
    Opcode(f"fma.{ROUNDING}[.ftz].f32x2", "T <- T T T", both(floating.fma), traits=Trait.COMMUTES),
    *(
        row
        for name, plain, traits in INTEGER_SUMS
        for row in (
            Opcode(
                f"{name}.(u16x2|s16x2)", "T <- T T", both(lambda m, f, a, b, plain=plain: plain(m, a, b)), traits=traits
            ),
            Opcode(f"{name}.sat.(u16x2|s16x2)", "T <- T T", both(saturating(plain)), traits=traits),
        )
    ),
    *(
        row
        for name, operation in (("min", smaller), ("max", larger))
        for row in (
            Opcode(f"{name}.(u16x2|s16x2)", "T <- T T", both(operation), traits=Trait.COMMUTES),
            Opcode(f"{name}.relu.s16x2", "T <- T T", both(rectified(operation)), traits=Trait.COMMUTES),
            Opcode(f"{name}.relu.s32", "T <- T T", rectified(operation), traits=Trait.COMMUTES),
        )
    ),
)
