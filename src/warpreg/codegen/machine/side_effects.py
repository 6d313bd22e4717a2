"""Which instructions do nothing but compute their result from their operands."""

from __future__ import annotations

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import reads_carry, traits, writes_carry
from warpreg.ir.operands import Special

UNSTEADY = ("%clock", "%globaltimer", "%pm", "%smid", "%warpid", "%nsmid", "%envreg")
"""Special registers whose value may change from read to read."""


def is_pure(instruction: Instruction) -> bool:
    """Whether it may run where it was not asked for, or once instead of twice, and no one could tell."""
    if not traits(instruction).is_pure:
        return False
    if any(isinstance(o, Special) and o.name.startswith(UNSTEADY) for o in instruction.sources):
        return False
    return not (reads_carry(instruction) or writes_carry(instruction))


def reads_parameter(instruction: Instruction) -> bool:
    """Whether it loads a kernel parameter, which is a word of a constant bank."""
    return instruction.opcode == "ld" and "param" in instruction.modifiers
