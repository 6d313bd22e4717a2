"""Kernel parameters whose address is taken: the thread keeps a copy of them in local memory.

Parameters are words of a constant bank that has no addresses.  A parameter that a ``mov`` or ``cvta`` names is copied
when the kernel starts; from then on its address is the copy's, and instructions that reach the parameter space through
a register reach local memory (PTX ISA, section 5.1.6, "Kernel Function Parameters").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from warpreg.codegen.flatten import Flat, Flattened
from warpreg.codegen.operands import map_operand
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Function, Variable
from warpreg.ir.operands import Address, Operand, Register, Symbol
from warpreg.ir.types import TYPES

TAKING = frozenset({"mov", "cvta"})
SPACES = frozenset({"param", "param::entry"})


def with_copies(function: Function, flat: Flattened) -> None:
    """Give the parameters whose address is taken a place in local memory, and use it."""
    own = {parameter.name: parameter for parameter in function.parameters}
    lists = [flat.items, *(routine.items for routine in flat.routines.values())]
    taken = [own[name] for name in dict.fromkeys(n for items in lists for n in _taken(items)) if name in own]
    if not taken:
        return
    copies = {parameter.name: flat.names.unique(f"{parameter.name}$copy") for parameter in taken}
    for parameter in taken:
        name = copies[parameter.name]
        flat.variables[name] = replace(parameter, space="local", name=name, qualifiers=())
    for items in lists:
        items[:] = [_rewritten(item, copies) if isinstance(item, Instruction) else item for item in items]
    flat.items[:0] = [i for parameter in taken for i in _copied(parameter, copies[parameter.name])]


def _taken(items: Iterable[Flat]) -> Iterator[str]:
    """The symbols that stand for an address in a register."""
    for item in items:
        if isinstance(item, Instruction) and item.opcode in TAKING:
            yield from (operand.name for operand in item.sources if isinstance(operand, Symbol))


def _rewritten(instruction: Instruction, copies: dict[str, str]) -> Instruction:
    if instruction.opcode in TAKING:
        operands = tuple(map_operand(o, lambda leaf: _moved(leaf, copies)) for o in instruction.operands)
        instruction = replace(instruction, operands=operands)
    through_register = any(isinstance(o, Address) and isinstance(o.base, Register) for o in instruction.sources)
    if through_register or instruction.opcode in ("cvta", "isspacep"):
        modifiers = tuple("local" if m in SPACES else m for m in instruction.modifiers)
        return instruction if modifiers == instruction.modifiers else replace(instruction, modifiers=modifiers)
    return instruction


def _moved(operand: Operand, copies: dict[str, str]) -> Operand:
    if isinstance(operand, Symbol) and operand.name in copies:
        return replace(operand, name=copies[operand.name])
    return operand


def _copied(parameter: Variable, name: str) -> Iterator[Instruction]:
    """Loads from the parameter and stores to its copy, of words where its alignment allows."""
    step = min(4, parameter.natural_alignment)
    for offset in range(0, parameter.bytes, step):
        size = step if offset + step <= parameter.bytes else 1
        for at in range(offset, min(offset + step, parameter.bytes), size):
            value = Register(f"%{name}.{at}", TYPES[f"b{max(16, 8 * size)}"])
            kind = f"b{8 * size}"
            yield Instruction("ld", ("param", kind), (value, Address(Symbol(parameter.name), at)))
            yield Instruction("st", ("local", kind), (Address(Symbol(name), at), value))
