"""Instructions without side effects: they only compute a result from their operands."""

from __future__ import annotations

from warpreg.codegen.machine.legality import BANK_SPECIALS
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import reads_carry, traits, writes_carry
from warpreg.ir.operands import Special

UNSTEADY = ("%clock", "%globaltimer", "%pm", "%smid", "%warpid", "%nsmid", "%envreg")
"""Special registers whose value may differ between reads."""
FIXED_SPECIALS = BANK_SPECIALS | {f"%{n}.{axis}" for n in ("tid", "ctaid") for axis in "xyz"} | {"%laneid"}
"""Special registers that can be read again instead of being kept."""


def is_pure(instruction: Instruction) -> bool:
    """Whether executing it speculatively, or once instead of twice, has no visible effect."""
    if not traits(instruction).is_pure:
        return False
    if any(isinstance(o, Special) and o.name.startswith(UNSTEADY) for o in instruction.sources):
        return False
    return not (reads_carry(instruction) or writes_carry(instruction))


def reads_parameter(instruction: Instruction) -> bool:
    """Whether it loads a kernel parameter, which is a word of a constant bank."""
    return instruction.opcode == "ld" and "param" in instruction.modifiers
