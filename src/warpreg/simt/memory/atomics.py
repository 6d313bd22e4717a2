"""The new memory content of an atomic operation: the ``update`` of the semantics table, for one lane."""

from __future__ import annotations

from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import mbarrier
from warpreg.ir.operands import Address, Immediate, Operand, Register
from warpreg.ir.types import TYPES
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import Code, Value


def combine(code: Code, action: str, before: Value, given: Value, other: Value, space: str = "") -> Value:
    """The new content; ``action`` is the operation with its type, such as ``add.u32``, or ``mbarrier.update``;
    ``space`` is its state space, ``other`` is used by cas and mbarriers only."""
    single = ir.VectorType(before.type, 1)
    if action == "mbarrier.update":
        values = [v.bitcast(single).llvm for v in (before, given, other)]
        result = mbarrier.updated(lane_instructions.algebra(code.builder, code.module, 1), *values)
        return Value(code, result).bitcast(before.type)
    operation, type_ = action.split(".")
    register = Register("value", TYPES[type_])
    operands: tuple[Operand, ...] = (register, Address(Immediate(0)), *[register] * (2 if operation == "cas" else 1))
    where = (space,) if space in ("global", "shared") else ()
    instruction = Instruction("atom", (*where, operation, type_), operands)
    update = opcodes.lookup(instruction).update
    assert update is not None
    values = [v.bitcast(single).llvm for v in ((before, given, other) if operation == "cas" else (before, given))]
    result = update(lane_instructions.algebra(code.builder, code.module, 1), opcodes.form(instruction), *values)
    return Value(code, result).bitcast(before.type)
