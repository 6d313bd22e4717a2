"""Which operands an instruction takes without a register, as NVIDIA's machine code has it.

An arithmetic instruction reads at most one constant, be it an immediate or a word of a constant bank; zero is free,
since the machine has a register that reads as zero.  Stored data come from registers, and so do addresses of global
memory.  An f64 immediate that no instruction can hold lies in a constant bank of the compiler's own; integers of 64
bits are computed in two words, each with its immediate.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import flattened, signature, traits
from warpreg.ir.operands import Address, ConstantBank, Immediate, Not, Operand, Register, Special, Vector
from warpreg.ir.types import B32, Type

LEA_MODIFIERS = frozenset({("lo", "s32"), ("lo", "u32"), ("lo", "s64"), ("lo", "u64")})
STORING = frozenset({"st", "atom", "red"})
ADDRESSING = STORING | {"ld", "ldu", "prefetch", "wmma", "ldmatrix", "stmatrix", "cp", "mbarrier"}
FROM_REGISTERS = STORING | {"mma", "wmma", "stmatrix"}
"""Opcodes whose brace lists are registers of the machine, one after the other."""
BANK_SPECIALS = frozenset(f"%{name}.{axis}" for name in ("ntid", "nctaid") for axis in "xyz")
"""Special registers that the machine keeps in a constant bank."""


def is_constant(operand: Operand) -> bool:
    """Whether an operand is a launch-wide constant."""
    if isinstance(operand, Special):
        return operand.name in BANK_SPECIALS
    return isinstance(operand, (Immediate, ConstantBank))


def is_free(operand: Operand) -> bool:
    """Whether an operand costs neither register nor constant port: zero."""
    return isinstance(operand, Immediate) and operand.value == 0


def is_charged(operand: Operand) -> bool:
    """Whether an operand takes an instruction's one constant port."""
    return is_constant(operand) and not is_free(operand)


def shift_position(instruction: Instruction) -> int:
    """Where a multiply-add has a power of two, which the machine's LEA encodes as a shift; -1 if nowhere."""
    if instruction.opcode != "mad" or instruction.modifiers not in LEA_MODIFIERS:
        return -1
    factor = instruction.sources[1]
    is_power = isinstance(factor, Immediate) and factor.form == "int" and factor.value > 0
    return 1 if is_power and isinstance(factor, Immediate) and factor.value.bit_count() == 1 else -1


def charged(instruction: Instruction) -> int:
    """How many constants an instruction reads."""
    shift = shift_position(instruction)
    return sum(is_charged(o) for i, o in enumerate(instruction.sources) if i != shift)


def source_types(instruction: Instruction) -> tuple[Type, ...] | None:
    """The type of each source operand; None where the table does not know or an operand holds several values."""
    if any(isinstance(o, Vector) for o in instruction.sources):
        return None
    try:
        types = signature(instruction).sources
    except UnsupportedError:
        return None
    return types if len(types) == len(instruction.sources) else None


def element_types(instruction: Instruction, position: int) -> tuple[Type, ...]:
    """The types of the elements of a brace list among the sources; b32 where the table does not know."""
    first = len(flattened(instruction.sources[:position]))
    count = len(flattened(instruction.sources[position : position + 1]))
    try:
        return signature(instruction).sources[first : first + count]
    except UnsupportedError:
        return (B32,) * count


def fits(operand: Operand, slot: Type) -> bool:
    """Whether a constant can stand in a slot of that type."""
    if slot.is_predicate:
        return False
    if isinstance(operand, ConstantBank):
        return operand.type.bits == slot.bits
    if isinstance(operand, Special):
        return slot.bits == B32.bits
    if not isinstance(operand, Immediate):
        return False
    return operand.form == "int" or slot.bits == (64 if operand.form == "f64" else 32)


def must_be_registers(instruction: Instruction) -> Iterator[int]:
    """Positions of the source operands that hold a constant where the machine wants a register."""
    if instruction.opcode in STORING:
        for position, operand in enumerate(instruction.sources):
            if is_charged(operand):
                yield position
    elif traits(instruction).takes_constant:
        shift = shift_position(instruction)
        positions = [i for i, o in enumerate(instruction.sources) if is_charged(o) and i != shift]
        banked = [i for i in positions if not isinstance(instruction.sources[i], Immediate)]
        kept = (banked or positions)[-1:]
        yield from (i for i in positions if i not in kept)


def base_needs_register(instruction: Instruction, operand: Operand) -> bool:
    """Whether an address is that of a module variable, which must come from a register unless it is constant memory."""
    if instruction.opcode not in ADDRESSING or not isinstance(operand, Address):
        return False
    banked = isinstance(operand.base, ConstantBank)
    return banked and not {"const", "param"}.intersection(instruction.modifiers)


def is_register(operand: Operand) -> bool:
    """Whether reading an operand reads a register."""
    return isinstance(operand, (Register, Not))
