"""Rewrites operands and instructions with other leaves (registers, symbols, labels)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import (
    Address,
    AddressTuple,
    Arguments,
    ConstantBank,
    Immediate,
    Not,
    Operand,
    Pair,
    Part,
    Register,
    Symbol,
    Vector,
)

Leaf = Callable[[Operand], Operand]

LEAVES = (Register, Immediate, ConstantBank)
"""The usual operands that have no parts."""


def map_operand(operand: Operand, leaf: Leaf) -> Operand:
    """``operand`` with ``leaf`` applied to each of its parts; the same object if nothing changes."""
    if isinstance(operand, LEAVES):
        return leaf(operand)
    if isinstance(operand, Address):
        base = leaf(operand.base)
        based = operand if base is operand.base else rebase(operand, base)
        uniform = leaf(operand.uniform) if operand.uniform else None
        is_other = isinstance(uniform, Register) and uniform is not operand.uniform
        return replace(based, uniform=uniform) if is_other and isinstance(uniform, Register) else based
    if isinstance(operand, (Vector, Arguments, AddressTuple)):
        elements = tuple(map_operand(e, leaf) for e in operand.elements)
        same = all(a is b for a, b in zip(elements, operand.elements, strict=True))
        return operand if same else type(operand)(elements)
    if isinstance(operand, Not):
        inner = leaf(operand.operand)
        return operand if inner is operand.operand or not isinstance(inner, Register) else Not(inner)
    if isinstance(operand, Part):
        whole = leaf(operand.register)
        return replace(operand, register=whole) if isinstance(whole, Register) else operand
    if isinstance(operand, Pair):
        first, second = map_operand(operand.first, leaf), map_operand(operand.second, leaf)
        return operand if first is operand.first and second is operand.second else Pair(first, second)
    return leaf(operand)


def rebase(address: Address, base: Operand) -> Address:
    """The address with another base; the offset of a symbol is added to the address's."""
    if isinstance(base, Symbol) and base.offset:
        return replace(address, base=Symbol(base.name), offset=address.offset + base.offset)
    if isinstance(base, (Register, Symbol, Immediate, ConstantBank)):
        return replace(address, base=base)
    return address


def map_instruction(instruction: Instruction, leaf: Leaf) -> Instruction:
    """``instruction`` with ``leaf`` applied to every operand part and to the guard's register."""
    operands = tuple(map_operand(o, leaf) for o in instruction.operands)
    guard = instruction.guard
    if guard:
        register = leaf(guard.register)
        if register is not guard.register and isinstance(register, Register):
            guard = Guard(register, guard.negated)
    if guard is instruction.guard and all(a is b for a, b in zip(operands, instruction.operands, strict=True)):
        return instruction
    i = instruction
    return Instruction(i.opcode, i.modifiers, operands, guard, i.location, i.source)


def rename_registers(instruction: Instruction, names: Callable[[Register], Operand]) -> Instruction:
    """``instruction`` with every register, read or written, mapped by ``names``."""
    return map_instruction(instruction, lambda o: names(o) if isinstance(o, Register) else o)
