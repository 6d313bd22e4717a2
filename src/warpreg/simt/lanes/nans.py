"""NaNs are made canonical where their bits can be seen, and nowhere else.

Arithmetic yields one NaN whatever NaN went in, so a value that only further arithmetic and comparisons read may keep
the NaN that the host made of it.  The comparison and the select that would replace it stay out of the code unless
something else, such as a store, a move or the end of the block, names the value.
"""

from __future__ import annotations

from typing import Any

from warpreg.ir.opcodes import Form
from warpreg.ir.opcodes.arithmetic.floating import NAN
from warpreg.ir.types import Type
from warpreg.simt.lanes.constants import uniform
from warpreg.simt.llvm import text as ir

CANONICAL, IS_NAN = "canonical", "isnan"
"""Names of deferred instructions."""

BLIND = frozenset({"add", "sub", "mul", "fma", "setp", "set", "min", "max"})
"""Opcodes that tell no NaN from another, as long as they are of f32 or f64."""
SEEING = frozenset({"abs", "xorsign"})
"""Modifiers with which signs count."""


def is_nan(builder: Any, bits: Any, number: Any) -> Any:
    """Where ``number``, a vector of floats with those ``bits``, is NaN."""
    text = f"fcmp uno {number.type} {number.get_reference()}, {number.get_reference()}"
    return builder.defer(ir.VectorType(ir.IntType(1), number.type.count), IS_NAN, (bits,), lambda: text)


def canonical(builder: Any, condition: Any, first: Any, second: Any) -> Any | None:
    """The select that makes ``second`` canonical; None if this is another one."""
    if not isinstance(condition, ir.Deferred) or condition.opname != IS_NAN or condition.operands[0] is not second:
        return None
    if uniform(first) != NAN.get(second.type.element.width):
        return None
    operands = (condition, first, second)

    def text() -> str:
        return "select " + ", ".join(f"{o.type} {o.get_reference()}" for o in operands)

    return builder.defer(second.type, CANONICAL, operands, text)


def unseen(form: Form, value: Any, type_: Type) -> Any:
    """The source of an instruction with whatever NaN it has, where the instruction cannot tell."""
    if form.opcode not in BLIND or SEEING.intersection(form.modifiers) or type_.name not in ("f32", "f64"):
        return value
    is_canonical = isinstance(value, ir.Deferred) and value.opname == CANONICAL
    return value.operands[2] if is_canonical and value.type.element.width == type_.bits else value
