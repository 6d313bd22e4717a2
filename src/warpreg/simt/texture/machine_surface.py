"""Surface instructions of machine code: SULD, SUST and SURED (`warpreg.machine_code.textures` says the operands).

The words after ``.SM`` are PTX's: ``.TRAP`` is ``.trap``, ``.IGN`` is ``.zero``, and neither is ``.clamp``; ``.BA``
counts bytes, and ``.P`` is a store in the format of the surface.
"""

from __future__ import annotations

from dataclasses import replace

from warpreg.ir.instruction import Instruction
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import I64, LANES, Value, lanes_of
from warpreg.simt.texture.fetch import ROW_BYTES
from warpreg.simt.texture.half_results import as_half
from warpreg.simt.texture.surfaces import SurfaceOperation
from warpreg.simt.texture.texture_instructions import SCRATCH_BYTES, TextureAccess

SHAPES = {"1D": "1d", "2D": "2d", "3D": "3d", "1D_ARRAY": "a1d", "2D_ARRAY": "a2d"}
"""PTX's names of geometries."""
BOUNDS = {"TRAP": "trap", "IGN": "zero"}
BYTES = {"U8": 1, "U16": 2, "U64": 8, "S64": 8, "SD64": 8}
"""Of an element; 4 without a size, and for 64 or 128 bits of a load or store, which are several."""


class MachineSurface(TextureAccess):
    """One surface instruction of a block."""

    def accessed(self, points: list[Value], stored: list[Value], handle: Value, words: int, mask: Value) -> list[Value]:
        """The words that are loaded; ``points`` are the coordinates, the layer last, ``handle`` is a scalar (i64)."""
        operation = operation_of(self.instruction, words, self.sites.record)
        rows, element = self.values.scratch(SCRATCH_BYTES), lanes_of(operation.element)
        row_bytes = LANES * operation.size
        if operation.size == 8:
            stored = [stored[0].zext(lanes_of(I64)) | (stored[1].zext(lanes_of(I64)) << 32)]
        for place, value in enumerate(stored):
            narrow = value if value.type == element else value.trunc(element)
            (rows + place * row_bytes).store(narrow, align=32)
        if operation.action == "format":
            for place, value in enumerate(stored):
                half = as_half(self.values, self.instruction, value).zext(WORDS)
                (rows + (4 + place) * ROW_BYTES).store(half, align=64)
        is_layered = operation.geometry in ("a1d", "a2d")
        given = [points[-1], *points[:-1]] if is_layered else points
        self._access(operation, mask, rows, [handle, *given])
        if operation.action != "load":
            return []
        found = [(rows + place * row_bytes).load(element, align=32) for place in range(words)]
        return [one if one.type == WORDS else one.zext(WORDS) for one in found]


def operation_of(instruction: Instruction, words: int, record: bool) -> SurfaceOperation:
    """The operation of PTX that has the same effect."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    size = next((BYTES[one] for one in modifiers if one in BYTES), 4)
    operation = SurfaceOperation(
        action={"SULD": "load", "SUST": "store"}.get(opcode, ""),
        geometry=SHAPES[next(one for one in modifiers if one in SHAPES)],
        size=size,
        count=1 if size == 8 else words,
        clamp=next((BOUNDS[one] for one in modifiers if one in BOUNDS), "clamp"),
        samples="BA" not in modifiers,
        record=record,
    )
    if modifiers[0] == "P":
        return replace(operation, action="format")
    if opcode == "SURED":
        return replace(operation, action=_reduction(modifiers), by_format=bool({"SD32", "SD64"} & {*modifiers}))
    return operation


def _reduction(modifiers: tuple[str, ...]) -> str:
    """``.SD32`` and ``.SD64`` compare as the format of the surface says."""
    name = next(one for one in ("ADD", "MIN", "MAX", "AND", "OR") if one in modifiers).lower()
    bits = 64 if {"U64", "S64", "SD64"} & {*modifiers} else 32
    kind = "b" if name in ("and", "or") else "s" if {"S32", "S64"} & {*modifiers} else "u"
    return f"{name}.{kind}{bits}"
