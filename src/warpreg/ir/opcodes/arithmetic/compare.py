"""Comparison and selection (PTX ISA, section 9.7.6)."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import flushed, number
from warpreg.ir.opcodes.arithmetic.integer import less
from warpreg.ir.opcodes.form import Form, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

ORDERED = "(eq|ne|lt|le|gt|ge)"
UNSIGNED = "(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)"
FLOAT = "(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)"
COMPARISONS = (
    ("(eq|ne){0}.(b16|b32|b64)", Unit.ALU),
    (f"{UNSIGNED}{{0}}.(u16|u32|u64)", Unit.ALU),
    (f"{ORDERED}{{0}}.(s16|s32|s64)", Unit.ALU),
    (f"{FLOAT}{{0}}[.ftz].f32", Unit.ALU),
    (f"{FLOAT}{{0}}.f64", Unit.DP),
)
"""The comparison of each type; {0} is replaced by the operator that combines it with a predicate."""
COMBINED = ".(and|or|xor)"
VALUES = "(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)"
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def inverse(m: Algebra[V], p: V) -> V:
    return m.xor(p, m.constant(1, 1))


def compared_integers(m: Algebra[V], f: Form, relation: str, a: V, b: V) -> V:
    return {
        "eq": lambda: m.eq(a, b),
        "ne": lambda: inverse(m, m.eq(a, b)),
        "lt": lambda: less(m, f, a, b),
        "le": lambda: inverse(m, less(m, f, b, a)),
        "gt": lambda: less(m, f, b, a),
        "ge": lambda: inverse(m, less(m, f, a, b)),
    }[UNSIGNED_NAMES.get(relation, relation)]()


def compared_numbers(m: Algebra[V], relation: str, a: V, b: V) -> V:
    """A relation is false if an operand is NaN; with a final ``u`` it is true then."""
    return {
        "eq": lambda: m.fcmp("oeq", a, b),
        "ne": lambda: m.or_(m.fcmp("olt", a, b), m.fcmp("olt", b, a)),
        "lt": lambda: m.fcmp("olt", a, b),
        "le": lambda: m.fcmp("ole", a, b),
        "gt": lambda: m.fcmp("olt", b, a),
        "ge": lambda: m.fcmp("ole", b, a),
        "equ": lambda: m.or_(m.fcmp("oeq", a, b), m.fcmp("uno", a, b)),
        "neu": lambda: inverse(m, m.fcmp("oeq", a, b)),
        "ltu": lambda: inverse(m, m.fcmp("ole", b, a)),
        "leu": lambda: inverse(m, m.fcmp("olt", b, a)),
        "gtu": lambda: inverse(m, m.fcmp("ole", a, b)),
        "geu": lambda: inverse(m, m.fcmp("olt", a, b)),
        "num": lambda: inverse(m, m.fcmp("uno", a, b)),
        "nan": lambda: m.fcmp("uno", a, b),
    }[relation]()


def compared(m: Algebra[V], f: Form, a: V, b: V) -> V:
    if f.type.is_float:
        return compared_numbers(m, f.modifiers[0], flushed(m, f, a), flushed(m, f, b))
    return compared_integers(m, f, f.modifiers[0], a, b)


def combined(m: Algebra[V], f: Form, p: V, c: V) -> V:
    operation = {"and": m.and_, "or": m.or_, "xor": m.xor}[f.modifiers[1]]
    return operation(p, c)


def setp(m: Algebra[V], f: Form, a: V, b: V) -> tuple[V, ...]:
    """The second predicate, if any, is the inverse."""
    holds = compared(m, f, a, b)
    return (holds,) if len(f.signature.results) == 1 else (holds, inverse(m, holds))


def setp_combined(m: Algebra[V], f: Form, a: V, b: V, c: V) -> tuple[V, ...]:
    return tuple(combined(m, f, p, c) for p in setp(m, f, a, b))


def as_value(m: Algebra[V], f: Form, p: V) -> V:
    """True is 1.0 for an f32 result, else all ones."""
    true = number(m, 32, 1.0) if f.types[0].is_float else m.constant(32, -1)
    return m.select(p, true, m.constant(32, 0))


def set_value(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return as_value(m, f, compared(m, f, a, b))


def set_value_combined(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return as_value(m, f, combined(m, f, compared(m, f, a, b), c))


def select_by_sign(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """a where c >= 0 (-0 included), else b (NaN included)."""
    zero = m.constant(32, 0)
    if f.type.is_float:
        return m.select(m.fcmp("ole", zero, flushed(m, f, c)), a, b)
    return m.select(m.slt(c, zero), b, a)


def _with_result(comparison: str) -> str:
    """``set`` names the result's type before the operands' type."""
    head, operand_type = comparison.rsplit(".", 1)
    return f"{head}.(u32|s32|f32).{operand_type}"


BLIND = Trait.IGNORES_NAN_BITS

OPCODES = (
    *(Opcode(f"setp.{c.format('')}", "pred pred? <- T T", setp, unit, traits=BLIND) for c, unit in COMPARISONS),
    *(
        Opcode(f"setp.{c.format(COMBINED)}", "pred pred? <- T T pred", setp_combined, unit, traits=BLIND)
        for c, unit in COMPARISONS
    ),
    *(
        Opcode(f"set.{_with_result(c.format(''))}", "T0 <- T T", set_value, unit, traits=BLIND)
        for c, unit in COMPARISONS
    ),
    *(
        Opcode(f"set.{_with_result(c.format(COMBINED))}", "T0 <- T T pred", set_value_combined, unit, traits=BLIND)
        for c, unit in COMPARISONS
    ),
    Opcode(f"selp.{VALUES}", "T <- T T pred", lambda m, f, a, b, p: m.select(p, a, b)),
    Opcode(f"slct.{VALUES}.s32", "T0 <- T0 T0 T", select_by_sign),
    Opcode(f"slct[.ftz].{VALUES}.f32", "T0 <- T0 T0 T", select_by_sign),
)
