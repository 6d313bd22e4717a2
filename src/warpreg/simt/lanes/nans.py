"""NaN canonicalization, only where the bits of a NaN are observable.

Arithmetic yields the canonical NaN for any NaN operand, so a value that only further arithmetic and comparisons read
may keep the host's NaN.  The comparison and the select that canonicalize it are emitted only if something else, such as
a store or a move, uses the value, or another block that may observe it (`BlockCompiler.blind_cells`).
"""

from __future__ import annotations

from typing import Any

from warpreg.ir.opcodes import Form, traits_of
from warpreg.ir.opcodes.arithmetic.floating import NAN
from warpreg.ir.operands import ModifiedOperand, Operand, Register
from warpreg.ir.types import Type
from warpreg.simt.lanes.constants import uniform
from warpreg.simt.llvm import text as ir

CANONICAL, IS_NAN = "canonical", "isnan"
"""Names of deferred instructions."""

SEEING = frozenset({"abs", "xorsign"})
"""Modifiers with which the sign of a NaN is observable."""


def is_nan(builder: Any, bits: Any, number: Any) -> Any:
    """The lanes in which ``number``, a vector of floats with these ``bits``, is NaN."""
    text = f"fcmp uno {number.type} {number.get_reference()}, {number.get_reference()}"
    return builder.defer(ir.VectorType(ir.IntType(1), number.type.count), IS_NAN, (bits,), lambda: text)


def canonical(builder: Any, condition: Any, first: Any, second: Any) -> Any | None:
    """The deferred select that canonicalizes ``second``; None if this select has another purpose."""
    if not isinstance(condition, ir.Deferred) or condition.opname != IS_NAN or condition.operands[0] is not second:
        return None
    if uniform(first) != NAN.get(second.type.element.width):
        return None
    operands = (condition, first, second)

    def text() -> str:
        return "select " + ", ".join(f"{o.type} {o.get_reference()}" for o in operands)

    return builder.defer(second.type, CANONICAL, operands, text)


def without_canonical(form: Form, value: Any, type_: Type) -> Any:
    """The source of an instruction without canonicalization, if the instruction does not observe NaN bits."""
    return bare(value) if is_blind(form, type_) and value.type.element.width == type_.bits else value


def is_blind(form: Form, type_: Type) -> bool:
    """Whether an instruction does not observe the bits of a NaN in a source of a type."""
    ignores = traits_of(form.opcode, form.modifiers).ignores_nan_bits
    return ignores and not SEEING.intersection(form.modifiers) and type_.name in ("f32", "f64")


def is_number(operand: Operand) -> bool:
    """Whether an operand is a register, or its negative or absolute value."""
    if isinstance(operand, ModifiedOperand):
        return isinstance(operand.operand, Register) and not operand.part and not operand.inverted
    return isinstance(operand, Register)


def bare(value: Any) -> Any:
    """A value before canonicalization."""
    return value.operands[2] if isinstance(value, ir.Deferred) and value.opname == CANONICAL else value
