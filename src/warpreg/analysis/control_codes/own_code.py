"""The machine instruction whose timing an instruction of this compiler has: one of the same pipe.

Own code has opcodes of PTX.  What an instruction becomes on a GPU follows from its row in the table of opcodes (unit)
and its types; expansions into several instructions are not modelled.
"""

from __future__ import annotations

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Latency, Unit, classify
from warpreg.ir.operands import Special

BY_UNIT = {
    Unit.SFU: "MUFU",
    Unit.DP: "DADD",
    Unit.TEX: "TEX",
    Unit.TENSOR: "S2R",
}
"""Matrix instructions count as of variable latency: no latency of theirs has a source here."""

BY_OPCODE = {
    "shfl": "SHFL",
    "popc": "POPC",
    "bfind": "FLO",
    "clz": "FLO",
    "fns": "FLO",
    "brev": "BREV",
    "match": "MATCH",
    "redux": "REDUX",
    "vote": "VOTE",
    "activemask": "VOTE",
    "dp2a": "IDP",
    "dp4a": "IDP",
}
SUMS = frozenset({"add", "sub", "mul", "fma", "mad", "mul24", "mad24", "madc"})
PRODUCTS = SUMS - {"add", "sub"}
HALVES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})


def machine_opcode(instruction: Instruction) -> str:
    """An opcode of the table of latencies."""
    unit, latency = classify(instruction)
    if instruction.opcode in BY_OPCODE:
        return BY_OPCODE[instruction.opcode]
    if unit in BY_UNIT:
        return BY_UNIT[unit]
    if unit is Unit.MEM:
        return _memory(instruction, latency)
    if unit is Unit.CTRL:
        return "B2R" if instruction.defined else "BRA"
    if any(register.is_uniform for register in instruction.defined):
        return "UIADD3"
    if any(isinstance(operand, Special) for operand in instruction.sources):
        return "S2R"
    return _arithmetic(instruction)


def _memory(instruction: Instruction, latency: Latency) -> str:
    if latency is Latency.CONSTANT:
        return "LDC"
    if instruction.traits.loads and latency is Latency.SHARED:
        return "LDS"
    return "LD"


def _arithmetic(instruction: Instruction) -> str:
    types, opcode = instruction.types, instruction.opcode
    if opcode == "cvt" and len({one.is_float for one in types}) > 1:
        return "I2F"
    if any(one.name in HALVES for one in types):
        return "HFMA2" if opcode in SUMS else "HMNMX2"
    if opcode in PRODUCTS and {"wide", "hi"} & {*instruction.modifiers}:
        return "IMAD.WIDE" if "wide" in instruction.modifiers else "IMAD.HI"
    if opcode in PRODUCTS or (opcode in SUMS and any(one.is_float for one in types)):
        return "FFMA"
    return "IADD3"
