"""Reasons why PTX instructions that are not in the table are unsupported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpreg.ir.instruction import Instruction

FAMILIES = {
    "wgmma": "works on a group of four warps",
    "tcgen05": "works on tensor memory",
    "tensormap": "works on tensor maps",
    "clusterlaunchcontrol": "hands out thread blocks at run time",
    "multimem": "works on the memory of several devices",
}
"""Reasons by base opcode."""

PARTS = {
    ("cp", "tensor"): "copies by a tensor map",
    ("mma", "sp"): "multiplies sparse matrices",
    ("mma", "sp::ordered_metadata"): "multiplies sparse matrices",
    ("mma", "block_scale"): "multiplies scaled blocks",
    ("cp", "cp_mask"): "copies chosen bytes of each 16",
    ("st", "bulk"): "fills memory of any size",
    ("ldmatrix", "b8"): "moves matrices of bytes",
    ("ldmatrix", "b8x16.b6x16_p32"): "unpacks matrices of 6-bit numbers",
    ("ldmatrix", "b8x16.b4x16_p64"): "unpacks matrices of 4-bit numbers",
    ("stmatrix", "b8"): "moves matrices of bytes",
    ("tex", "2dms"): "fetches one of several samples",
    ("tex", "a2dms"): "fetches one of several samples",
}
"""Reasons by base opcode and modifier."""


def reason(instruction: Instruction) -> str:
    """The error text for an instruction that no row of the table allows."""
    parts = (PARTS.get((instruction.opcode, modifier)) for modifier in instruction.modifiers)
    why = FAMILIES.get(instruction.opcode) or next(filter(None, parts), "")
    return f"is not supported: it {why}" if why else "is not supported"
