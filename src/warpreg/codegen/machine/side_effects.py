"""Instructions without side effects: they only compute a result from their operands."""

from __future__ import annotations

from warpreg.codegen.machine.legality import BANK_SPECIALS
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Special

UNSTEADY = ("%clock", "%globaltimer", "%pm", "%smid", "%warpid", "%nsmid", "%envreg")
"""Special registers whose value may differ between reads."""
FIXED_SPECIALS = BANK_SPECIALS | {f"%{n}.{axis}" for n in ("tid", "ctaid") for axis in "xyz"} | {"%laneid"}
"""Special registers that can be read again instead of being kept."""


def is_pure(instruction: Instruction) -> bool:
    """Whether executing it speculatively, or once instead of twice, has no visible effect."""
    traits = instruction.traits
    if not traits.is_pure or traits.reads_carry or traits.writes_carry:
        return False
    return not any(isinstance(o, Special) and o.name.startswith(UNSTEADY) for o in instruction.sources)


def reads_parameter(instruction: Instruction) -> bool:
    """Whether it loads a kernel parameter, which is a word of a constant bank."""
    return instruction.traits.loads and "param" in instruction.modifiers
