"""Uniform values: equal in all threads of a warp, and suitable for the uniform datapath of sm_75 and later.

That datapath has its own registers, one per warp, and 32-bit integer instructions that read only constants, block
indices and uniform registers.  An instruction of the ordinary datapath reads at most one uniform register, in place of
its constant.  A value is uniform here if its instruction and all its readers support that, as in the code of `ptxas`
for these machines.  A value that would have to be copied back remains in an ordinary register.  The uniform part of an
address (`FormUniformAddresses`) is a pair.
"""

from __future__ import annotations

from collections import defaultdict

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.machine.legality import is_charged, is_constant
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Unit, classify
from warpreg.ir.operands import Address, ConstantBank, Operand, Register, Special

BLOCK_INDICES = frozenset(f"%ctaid.{axis}" for axis in "xyz")
WORD = 32


def uniform_values(kernel: Kernel) -> frozenset[str]:
    """Names of the virtual registers whose values can be in uniform registers; linear in reads.

    If one reader cannot read several of them together, one is kept.  The choice is deterministic: the search follows
    the order of the kernel.
    """
    candidates: dict[str, Instruction] = {}
    for name, instruction in single_definitions(kernel).defining.items():
        if _computes(instruction) or _is_base(instruction):
            candidates[name] = instruction
    readers: dict[str, list[Instruction]] = defaultdict(list)
    for instruction in kernel.instructions():
        for register in dict.fromkeys(instruction.used):
            if register.name in candidates:
                readers[register.name].append(instruction)
    pending = dict.fromkeys(candidates)
    while pending:
        name = next(iter(pending))
        del pending[name]
        if name not in candidates or _stays(name, candidates, readers[name]):
            continue
        gone = candidates.pop(name)
        pending.update((r.name, None) for r in gone.used if r.name in candidates)
        for reader in readers[name]:
            pending.update((r.name, None) for r in (*reader.defined, *reader.used) if r.name in candidates)
    return frozenset(candidates)


def _computes(instruction: Instruction) -> bool:
    """Whether the uniform datapath supports the instruction, given its opcode and constants."""
    if not instruction.traits.is_uniform or "hi" in instruction.modifiers:
        return False
    if not instruction.types or any(t.bits != WORD or t.is_float for t in instruction.types):
        return False
    return isinstance(instruction.operands[0], Register) and not instruction.operands[0].is_predicate


def _is_base(instruction: Instruction) -> bool:
    """Whether it moves a word of 64 bits from a constant bank."""
    is_move = instruction.opcode == "mov" and instruction.modifiers == ("b64",)
    return is_move and isinstance(instruction.operands[1], ConstantBank)


def _stays(name: str, candidates: dict[str, Instruction], readers: list[Instruction]) -> bool:
    maker = candidates[name]
    makes = all(_is_uniform(o, candidates, maker.opcode) for o in maker.sources)
    return makes and bool(readers) and all(_takes(reader, name, candidates) for reader in readers)


def _is_uniform(operand: Operand, candidates: dict[str, Instruction], opcode: str) -> bool:
    if isinstance(operand, Register):
        return operand.name in candidates
    if isinstance(operand, Special) and operand.name in BLOCK_INDICES:
        return opcode == "mov"
    return is_constant(operand)


def _takes(reader: Instruction, name: str, candidates: dict[str, Instruction]) -> bool:
    """Whether a reader adds the value to an address, is uniform itself, or reads no constant and no other uniform
    register."""
    added = sum(isinstance(o, Address) and o.uniform is not None and o.uniform.name == name for o in reader.sources)
    if added or _is_base(candidates[name]):
        return added == sum(r.name == name for r in reader.used)
    if any(r.name in candidates for r in reader.defined):
        return True
    if not reader.traits.takes_constant or classify(reader)[0] is not Unit.ALU or reader.opcode == "cvt":
        return False
    uniform = {o.name for o in reader.sources if isinstance(o, Register) and o.name in candidates}
    return len(uniform) + sum(map(is_charged, reader.sources)) == 1
