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
    ModifiedOperand,
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
"""The usual operands that have no parts, but for a word of a constant bank at an index."""


def map_operand(operand: Operand, leaf: Leaf) -> Operand:
    """``operand`` with ``leaf`` applied to each of its parts; the same object if nothing changes."""
    if isinstance(operand, ConstantBank) and operand.index is not None:
        return replace(operand, index=_other(operand.index, leaf))
    if isinstance(operand, LEAVES):
        return leaf(operand)
    if isinstance(operand, Address):
        base = leaf(operand.base)
        based = operand if base is operand.base else rebase(operand, base)
        uniform, descriptor = _other(operand.uniform, leaf), _other(operand.descriptor, leaf)
        same = uniform is operand.uniform and descriptor is operand.descriptor
        return based if same else replace(based, uniform=uniform, descriptor=descriptor)
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
    if isinstance(operand, ModifiedOperand):
        changed = map_operand(operand.operand, leaf)
        if changed is operand.operand or not isinstance(changed, (Register, ConstantBank, Immediate)):
            return operand
        return replace(operand, operand=changed)
    if isinstance(operand, Pair):
        first, second = map_operand(operand.first, leaf), map_operand(operand.second, leaf)
        return operand if first is operand.first and second is operand.second else Pair(first, second)
    return leaf(operand)


def _other(register: Register | None, leaf: Leaf) -> Register | None:
    """The register that takes the place of one that an operand may have."""
    found = leaf(register) if register else None
    return found if isinstance(found, Register) else register


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
