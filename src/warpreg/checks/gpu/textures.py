"""Textures and surfaces of a launch as the GPU needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warpreg import simt
from warpreg.checks.gpu.request import TextureObject
from warpreg.ir.module import Function
from warpreg.ir.operands import Address, AddressTuple, Register, Symbol
from warpreg.simt.texture.state import Format

ELEMENTS = {
    Format.SNORM8: "int8", Format.SNORM16: "int16", Format.UNORM8: "uint8", Format.UNORM16: "uint16",
    Format.SIGNED8: "int8", Format.SIGNED16: "int16", Format.SIGNED32: "int32", Format.UNSIGNED8: "uint8",
    Format.UNSIGNED16: "uint16", Format.UNSIGNED32: "uint32", Format.HALF: "float16", Format.FLOAT: "float32",
}  # fmt: skip
NORMALIZED_READS = (Format.SNORM8, Format.SNORM16, Format.UNORM8, Format.UNORM16)
UNUSED = "clamp"
"""The address mode of dimensions that a texture lacks: on an H100, a border of the second one halves the means of a 1D
texture.
"""


def described(arguments: Sequence[Any], function: Function) -> tuple[TextureObject, ...]:
    """The textures and surfaces among the arguments of a kernel."""
    indexed = read_by_index(function)
    return tuple(
        _described(i, argument, i in indexed)
        for i, argument in enumerate(arguments)
        if isinstance(argument, simt.Texture | simt.Surface)
    )


def read_by_index(function: Function) -> set[int]:
    """Parameters whose texture is read by ``tex.1d`` with an integer coordinate, as ``tex1Dfetch`` does.

    On the GPU, such a texture must be linear memory; fetches from an array return 0.
    """
    names = {parameter.name: i for i, parameter in enumerate(function.parameters)}
    sources: dict[str, int] = {}
    parameters: set[int] = set()
    for instruction in function.instructions():
        if instruction.opcode == "ld" and "param" in instruction.modifiers:
            to, place = instruction.operands
            symbol = place.base if isinstance(place, Address) else None
            if isinstance(to, Register) and isinstance(symbol, Symbol) and symbol.name in names:
                sources[to.name] = names[symbol.name]
        elif instruction.opcode == "mov" and isinstance(instruction.operands[0], Register):
            source = instruction.operands[1]
            if isinstance(source, Register) and source.name in sources:
                sources[instruction.operands[0].name] = sources[source.name]
        elif instruction.opcode == "tex" and "1d" in instruction.modifiers and instruction.modifiers[-1] == "s32":
            place = instruction.operands[1]
            handle = place.elements[0] if isinstance(place, AddressTuple) else None
            if isinstance(handle, Register) and handle.name in sources:
                parameters.add(sources[handle.name])
    return parameters


def _described(argument: int, given: simt.Texture | simt.Surface, by_index: bool) -> TextureObject:
    layout = given.layout
    one = TextureObject(
        argument,
        given.buffer.address,
        layout.kind,
        layout.width,
        layout.height,
        layout.depth,
        layout.layers,
        layout.channels,
        ELEMENTS[layout.format],
        layout.format in NORMALIZED_READS,
    )
    if isinstance(given, simt.Surface):
        return one
    sampling = given.sampling
    dimensions = 1 if layout.kind.startswith("1d") else 3 if layout.kind == "3d" else 2
    modes = (*sampling.address[:dimensions], *[UNUSED] * (3 - dimensions))
    if by_index and layout.kind == "1d":
        return replace(one, addresses=modes, is_memory=True)
    return replace(
        one,
        addresses=modes,
        is_linear=sampling.filter == "linear",
        is_normalized=sampling.normalized or layout.kind.startswith("cube"),
    )
