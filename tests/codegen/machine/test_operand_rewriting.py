"""Rewriting visits the registers of an operand of any kind once each, in the order of `registers_of`."""

from __future__ import annotations

import pytest

from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.ir.instruction import registers_of
from warpreg.ir.operands import (
    Address,
    ConstantBank,
    Immediate,
    ModifiedOperand,
    Not,
    Operand,
    Pair,
    Part,
    Register,
    Vector,
)
from warpreg.ir.types import PRED, TYPES

B32, B64 = TYPES["b32"], TYPES["b64"]
R2, R4, R6 = (Register(f"R{n}", B32, n) for n in (2, 4, 6))
WIDE = Register("R8", B64, 8)
UR4, UR6 = Register("UR4", B32, 4), Register("UR6", B64, 6)
P0 = Register("P0", PRED, 0)

OPERANDS: tuple[Operand, ...] = (
    R2,
    WIDE,
    Immediate(3),
    ModifiedOperand(R2, negated=True),
    ModifiedOperand(UR4, absolute=True),
    ModifiedOperand(ConstantBank(0, 0x160, B32), negated=True),
    Not(P0),
    Part(R2, "lo"),
    Pair(R2, R4),
    Vector((R2, R4, R6)),
    Address(WIDE, 16, UR4),
    Address(WIDE, 16, UR4, descriptor=UR6),
    ConstantBank(0, 0x160, B32, index=R4),
)


@pytest.mark.parametrize("operand", OPERANDS, ids=str)
def test_every_register_is_visited_and_replaced(operand: Operand) -> None:
    seen: list[Register] = []

    def other(one: Operand) -> Operand:
        if not isinstance(one, Register):
            return one
        seen.append(one)
        return Register(f"{one.name}_", one.type, one.index)

    changed = map_operand(operand, other)
    before = [*registers_of(operand)]
    assert seen == before
    assert [one.name for one in registers_of(changed)] == [f"{one.name}_" for one in before]
    assert map_operand(operand, lambda one: one) == operand
