"""Kernel parameters whose address is taken are read from a copy in constant memory, which the launch writes.

Parameters are words of a constant bank that has no addresses.  The address of a parameter is the (generic) address of
its copy, and loads that access the parameter space through a register become loads of constant memory (PTX ISA,
section 5.1.6, "Kernel Function Parameters").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from warpreg.codegen.lower.address_layout import PARAMETER_COPY
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Address, Immediate, Register, Symbol
from warpreg.ir.types import TYPES

SPACES = frozenset({"param", "param::entry"})


def needs_copy(instructions: Iterable[Instruction], parameters: Iterable[str]) -> bool:
    """Whether an instruction takes the address of a parameter, or accesses the parameter space through a register."""
    names = {*parameters, PARAMETER_COPY}
    for instruction in instructions:
        if not instruction.traits.is_call and any(
            isinstance(o, Symbol) and o.name in names for o in instruction.operands
        ):
            return True
    return False


def through_addresses(instruction: Instruction, size: int, unique: Callable[[str], str]) -> Iterator[Instruction]:
    """The replacement of an instruction that accesses the ``size`` bytes of parameters through a register."""
    if SPACES.isdisjoint(instruction.modifiers):
        yield instruction
    elif instruction.opcode == "isspacep":
        distance = Register(unique("%distance"), TYPES["b64"])
        target, address = instruction.operands
        plain = replace(instruction, guard=None)
        yield replace(plain, opcode="sub", modifiers=("s64",), operands=(distance, address, Symbol(PARAMETER_COPY)))
        operands = (target, distance, Immediate(size))
        yield replace(instruction, opcode="setp", modifiers=("lt", "u64"), operands=operands)
    elif instruction.traits.loads and isinstance(_base(instruction), Register):
        modifiers = tuple("const" if m in SPACES else m for m in instruction.modifiers)
        yield replace(instruction, modifiers=modifiers)
    else:
        yield instruction


def _base(instruction: Instruction) -> object:
    return next((o.base for o in instruction.operands if isinstance(o, Address)), None)
