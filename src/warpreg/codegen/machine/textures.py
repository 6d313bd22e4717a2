"""Compiler transformations of texture and surface instructions."""

from __future__ import annotations

import struct
from collections.abc import Callable, Container
from dataclasses import replace

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.texture import COORDINATES
from warpreg.ir.operands import (
    Address,
    AddressTuple,
    ConstantBank,
    Immediate,
    Operand,
    Pair,
    Register,
    Sink,
    Vector,
)
from warpreg.ir.types import F32, U64, Type


def canonical(instruction: Instruction) -> Instruction:
    """The instruction without padding coordinates; PTX 1 forms without brackets are converted to the current form."""
    geometry = next((m for m in instruction.modifiers if m in COORDINATES), None)
    if geometry is None or not instruction.sources:
        return instruction
    place, *rest = instruction.sources
    if not isinstance(place, AddressTuple):
        if not rest:
            return instruction
        place = AddressTuple((place, rest.pop(0)))
    *handles, points = place.elements
    trimmed = Vector(points.elements[: COORDINATES[geometry]]) if isinstance(points, Vector) else Vector((points,))
    place = AddressTuple((*handles, trimmed))
    gradients = [_trimmed(o, geometry) if "grad" in instruction.modifiers else o for o in rest]
    return replace(instruction, operands=(*instruction.results, place, *gradients))


def _trimmed(operand: Operand, geometry: str) -> Operand:
    count = COORDINATES[geometry] - geometry.startswith("a")
    return Vector(operand.elements[:count]) if isinstance(operand, Vector) else operand


def bits_of(constant: Operand, slot: Type) -> Operand:
    """A constant of a 32-bit slot as the operand of a move: a decimal float as the bits of its f32 value."""
    if isinstance(constant, Immediate) and slot.is_float and slot.bits == F32.bits and constant.form != "f32":
        return Immediate(struct.unpack("<I", struct.pack("<f", constant.as_float))[0], "f32")
    return constant


def without_dead_results(instruction: Instruction, needed: Container[str]) -> Instruction:
    """The fetch without channels that nothing reads."""

    def kept(operand: Operand) -> Operand:
        if isinstance(operand, Vector):
            return Vector(tuple(map(kept, operand.elements)))
        if isinstance(operand, Pair):
            return Pair(kept(operand.first), kept(operand.second))
        return operand if not isinstance(operand, Register) or operand.name in needed else Sink()

    return replace(instruction, operands=(kept(instruction.operands[0]), *instruction.operands[1:]))


def with_handles(instruction: Instruction, value: Callable[[Operand], Operand]) -> Instruction:
    """The instruction with handles read from the constant bank where possible."""

    def banked(operand: Operand) -> Operand:
        found = value(operand)
        return found if isinstance(found, ConstantBank) and found.type.bits == U64.bits else operand

    def placed(operand: Operand) -> Operand:
        if isinstance(operand, AddressTuple):
            *handles, points = operand.elements
            return AddressTuple((*map(banked, handles), points))
        if isinstance(operand, Address) and not operand.offset:
            base = banked(operand.base)
            return Address(base) if isinstance(base, ConstantBank) else operand
        return operand

    return replace(instruction, operands=(*instruction.results, *map(placed, instruction.sources)))
