"""Maps PTX instructions of an exported run to SASS opcodes that the same unit executes.

Only opcodes that Accel-Sim supports for sm_70 are used.  An instruction without counterpart becomes the simplest
instruction of its unit, so that counts per unit are preserved.
"""

from __future__ import annotations

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Unit, classify
from warpreg.ir.operands import Special
from warpreg.ir.types import Type

INTEGER = {
    "mul": "IMAD", "mad": "IMAD", "mul24": "IMAD", "mad24": "IMAD", "madc": "IMAD", "dp4a": "IDP", "dp2a": "IDP",
    "min": "IMNMX", "max": "IMNMX", "setp": "ISETP", "set": "ISETP", "and": "LOP3.LUT", "or": "LOP3.LUT",
    "xor": "LOP3.LUT", "not": "LOP3.LUT", "cnot": "LOP3.LUT", "lop3": "LOP3.LUT", "shl": "SHF.L.U32",
    "shr": "SHF.R.U32.HI", "shf": "SHF.L.W.U32", "selp": "SEL", "slct": "SEL", "mov": "MOV", "cvta": "MOV",
    "isspacep": "ISETP", "prmt": "PRMT", "popc": "POPC", "clz": "FLO.U32", "bfind": "FLO.U32", "brev": "BREV",
    "vote": "VOTE.ANY", "activemask": "VOTE.ANY", "elect": "VOTE.ANY", "match": "VOTE.ANY", "nanosleep": "NOP",
}  # fmt: skip
SINGLE = {
    "add": "FADD", "sub": "FADD", "mul": "FMUL", "fma": "FFMA", "mad": "FFMA", "min": "FMNMX", "max": "FMNMX",
    "setp": "FSETP", "set": "FSET", "selp": "SEL", "slct": "SEL", "mov": "MOV",
}  # fmt: skip
HALF = {"mul": "HMUL2", "fma": "HFMA2", "setp": "HSETP2", "set": "HSET2", "selp": "SEL", "mov": "MOV"}
DOUBLE = {"add": "DADD", "sub": "DADD", "mul": "DMUL", "setp": "DSETP", "set": "DSETP"}
SPECIAL_FUNCTIONS = {
    "rcp": "RCP", "sqrt": "SQRT", "rsqrt": "RSQ", "sin": "SIN", "cos": "COS", "lg2": "LG2", "ex2": "EX2",
    "tanh": "TANH",
}  # fmt: skip
TEXTURE = {"tld4": "TLD4", "txq": "TXQ", "suq": "TXQ", "suld": "TLD"}
CONTROL = {
    "bar": "BAR.SYNC", "barrier": "BAR.SYNC", "bra": "BRA", "brx": "BRX", "ret": "EXIT", "exit": "EXIT", "trap": "EXIT",
    "membar": "MEMBAR.SC.GPU", "fence": "MEMBAR.SC.GPU",
}  # fmt: skip
BY_SPACE = {"load": "LD", "store": "ST", "atomic": "ATOM"}
SPACE_LETTER = {"global": "G", "shared": "S", "local": "L", "generic": ""}


def mnemonic(instruction: Instruction, recorded: bool) -> str:
    """Opcode and modifiers; ``recorded`` is whether the addresses of its executions are recorded."""
    unit, _ = classify(instruction)
    opcode = instruction.opcode
    if unit is Unit.CTRL:
        return "WARPSYNC" if "warp" in instruction.modifiers else CONTROL.get(opcode, "NOP")
    if unit is Unit.TEX:
        return TEXTURE.get(opcode, "TEX")
    if unit is Unit.MEM:
        return _memory(instruction, recorded)
    if unit is Unit.TENSOR:
        return "HMMA.16816.F32"
    if unit is Unit.SFU:
        return f"MUFU.{SPECIAL_FUNCTIONS.get(opcode, 'RCP')}"
    if unit is Unit.DP:
        return DOUBLE.get(opcode, "DFMA")
    return _arithmetic(instruction)


def _arithmetic(instruction: Instruction) -> str:
    opcode = instruction.opcode
    if opcode == "mov" and any(isinstance(operand, Special) for operand in instruction.sources):
        return "S2R"
    if opcode == "cvt":
        return _conversion(*instruction.types[-2:])
    type_ = instruction.types[-1] if instruction.types else None
    if opcode in ("mul", "mad") and "wide" in instruction.modifiers:
        return "IMAD.WIDE"
    if any(defined.is_predicate for defined in instruction.defined) and opcode not in ("setp", "set"):
        return "PLOP3.LUT"
    if type_ is not None and type_.is_float:
        return HALF.get(opcode, "HADD2") if _is_half(type_) else SINGLE.get(opcode, "FADD")
    found = INTEGER.get(opcode, "IADD3")
    writes = any(defined.words for defined in instruction.defined)
    return found if writes or not found.startswith("LOP3") else "ISETP"


def _conversion(to: Type, source: Type) -> str:
    if to.is_float:
        return "F2F" if source.is_float else "I2F"
    return "F2I" if source.is_float else "I2I"


def _is_half(type_: Type) -> bool:
    return type_.bits == 16 or type_.name in ("f16x2", "bf16x2")


def _memory(instruction: Instruction, recorded: bool) -> str:
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode == "shfl":
        return "SHFL"
    spaces = [m.split("::")[0] for m in modifiers]
    if "const" in spaces or "param" in spaces:
        return "LDC" + _width(instruction)
    if not recorded:
        return "NOP"
    space = next((s for s in spaces if s in SPACE_LETTER), "generic")
    if opcode == "mbarrier":
        space = "shared"
    if opcode == "cp":
        return "LDG.E"
    is_reduction = opcode == "red"
    action = "atomic" if opcode == "atom" else "load" if instruction.has_result else "store"
    if is_reduction:
        name = "ATOMS" if space == "shared" else "RED"
    else:
        name = BY_SPACE[action] + SPACE_LETTER[space]
    extended = ".E" if space in ("global", "generic") else ""
    operation = ".ADD" if is_reduction or action == "atomic" else ""
    return name + extended + operation + _width(instruction)


def _width(instruction: Instruction) -> str:
    """The access width of a lane as a modifier; empty for 32 bits."""
    if not instruction.types:
        return ".64" if instruction.opcode == "mbarrier" else ""
    type_ = instruction.types[-1]
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    bits = type_.bits * count if instruction.traits.accesses_elements else 32
    if bits < 32:
        return f".{'S' if type_.is_signed else 'U'}{bits}"
    return "" if bits == 32 else f".{bits}"
