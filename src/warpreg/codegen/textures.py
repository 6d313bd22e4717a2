"""Texture and surface instructions in one shape: the place in brackets, no more coordinates than the geometry has."""

from __future__ import annotations

from dataclasses import replace

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.texture import COORDINATES
from warpreg.ir.operands import AddressTuple, Operand, Vector


def canonical(instruction: Instruction) -> Instruction:
    """The instruction without padding coordinates and, as in PTX 1, without brackets around texture and coordinates."""
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
