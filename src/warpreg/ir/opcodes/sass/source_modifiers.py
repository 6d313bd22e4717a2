"""Source modifiers of machine code: part, absolute value, negation, inversion, by the type of the slot."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.operands import ModifiedOperand
from warpreg.ir.types import Type

V = TypeVar("V")

SIGN = "SIGN"
"""The sign of a word as a predicate."""

HALVES = 0x80008000
PARTS = {"H0": (0, 16), "H1": (16, 16), "B0": (0, 8), "B1": (8, 8), "B2": (16, 8), "B3": (24, 8)}
"""First bit and number of bits of a part of a word."""


def modified(m: Algebra[V], operand: ModifiedOperand, type_: Type, value: V, keeps_signs: bool = False) -> V:
    """The value of a source: its part, then the absolute value, then negation or inversion.

    ``type_`` is the type of the slot; ``keeps_signs``: the meaning negates integers itself (`Opcode.keeps_signs`).
    Raises KeyError for a part that is not known.
    """
    if operand.part == SIGN:
        value = m.trunc(m.lshr(value, m.constant(32, 31)), 1)
    elif operand.part:
        value = part(m, operand.part, value)
    if type_.is_float:
        signs = m.constant(m.width(value), HALVES if type_.lanes == 2 else 1 << m.width(value) - 1)
        if operand.absolute:
            value = m.and_(value, m.xor(signs, m.constant(m.width(value), -1)))
        return m.xor(value, signs) if operand.negated else value
    if operand.inverted:
        return m.xor(value, m.constant(m.width(value), -1))
    return m.sub(m.constant(m.width(value), 0), value) if operand.negated and not keeps_signs else value


def part(m: Algebra[V], name: str, value: V) -> V:
    """A byte or half at the bottom of the word, or one half in both (``H0_H0``)."""
    first, _, second = name.partition("_")
    at, bits = PARTS[first]
    low = m.and_(m.lshr(value, m.constant(32, at)), m.constant(32, (1 << bits) - 1))
    if not second:
        return low
    return m.or_(low, m.shl(part(m, second, value), m.constant(32, 16)))
