"""Which instructions do nothing but compute their result from their operands."""

from __future__ import annotations

from warpreg.codegen.machine.legality import ARITHMETIC
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import reads_carry, writes_carry
from warpreg.ir.operands import Special

PURE = ARITHMETIC | frozenset(
    {
        "mov",
        "cvta",
        "isspacep",
        "prmt",
        "bfe",
        "bfi",
        "bmsk",
        "lop3",
        "add3",
        "fns",
        "dp4a",
        "dp2a",
        "testp",
        "szext",
        "activemask",
        "getctarank",
        "mapa",
        "tex",
        "tld4",
        "txq",
        "suq",
        "istypep",
        "vabsdiff4",
        "vadd",
        "vsub",
        "vmin",
        "vmax",
        "vset",
        "vadd4",
        "vsub4",
    }
)
UNSTEADY = ("%clock", "%globaltimer", "%pm", "%smid", "%warpid", "%nsmid", "%envreg")
"""Special registers whose value may change from read to read."""
APART = frozenset({"activemask", "tex", "tld4", "txq", "suq", "mapa", "getctarank"})


def is_pure(instruction: Instruction) -> bool:
    """Whether it may run where it was not asked for, or once instead of twice, and no one could tell."""
    if instruction.opcode not in PURE or instruction.opcode in APART:
        return False
    if any(isinstance(o, Special) and o.name.startswith(UNSTEADY) for o in instruction.sources):
        return False
    return not (reads_carry(instruction) or writes_carry(instruction))


def reads_parameter(instruction: Instruction) -> bool:
    """Whether it loads a kernel parameter, which is a word of a constant bank."""
    return instruction.opcode == "ld" and "param" in instruction.modifiers
