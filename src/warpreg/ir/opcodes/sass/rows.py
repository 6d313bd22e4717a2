"""How a row of machine code is written, and forms of PTX whose meanings it shares."""

from __future__ import annotations

from typing import Any

from warpreg.ir.opcodes.form import Form, Latency, Opcode, Signature, Unit
from warpreg.ir.opcodes.trait import Flow, Trait
from warpreg.ir.types import TYPES

BY_PATTERN = "pattern <- pattern"
"""In place of types: the operand pattern of the opcode has them."""

ROUNDING = "[.(RM|RP|RZ)]"
RELATIONS = "(LT|EQ|LE|GT|NE|GE|NUM|NAN|LTU|EQU|LEU|GTU|NEU|GEU)"
"""Of numbers with a fraction; those with a final ``U`` hold if an operand is NaN."""
CONTROL, MEMORY = Unit.CTRL, Unit.MEM


def row(syntax: str, meaning: Any = None, unit: Unit = Unit.ALU, **options: Any) -> Opcode:
    """A row; ``options`` are those of `Opcode`."""
    return Opcode(syntax, BY_PATTERN, meaning, unit, constants=False, **options)


def effect(
    syntax: str, words: str, unit: Unit = CONTROL, latency: Latency | None = None, traits: Trait = Trait.NONE
) -> Opcode:
    """A row that has an effect besides its results."""
    return Opcode(syntax, BY_PATTERN, None, unit, latency, effect=words, constants=False, traits=traits)


def access(syntax: str, words: str, space: str, latency: Latency, traits: Trait) -> Opcode:
    """A row that accesses elements of memory."""
    traits |= Trait.ELEMENTS
    return Opcode(syntax, BY_PATTERN, None, MEMORY, latency, effect=words, constants=False, traits=traits, space=space)


def end(syntax: str, words: str, flow: Flow, traits: Trait = Trait.NONE) -> Opcode:
    """A row that ends a block."""
    return Opcode(syntax, BY_PATTERN, None, CONTROL, effect=words, constants=False, traits=traits, flow=flow)


def as_ptx(form: Form, opcode: str, *types: str, more: tuple[str, ...] = ()) -> Form:
    """The form of an instruction of PTX with the same meaning: modifiers in lower case, then types."""
    modifiers = (*(one.lower() for one in form.modifiers), *more, *types)
    slots = tuple(TYPES[one] for one in types[-1:])
    return Form(opcode, modifiers, Signature(slots, slots * 3))
