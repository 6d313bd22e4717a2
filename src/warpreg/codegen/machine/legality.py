"""Legal operands of instructions without a register, as in NVIDIA's machine code.

An arithmetic instruction reads at most one constant, an immediate or a word of a constant bank.  Zero is free, because
a register reads as zero.  Stored data and addresses of global memory come from registers.  An f64 immediate that no
instruction can encode is placed in a constant bank of the compiler.  64-bit integers are computed in two words, each
with its own immediate.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import flattened, signature
from warpreg.ir.operands import Address, ConstantBank, Immediate, Not, Operand, Register, Special, Vector
from warpreg.ir.types import B32, Type

LEA_MODIFIERS = frozenset({("lo", "s32"), ("lo", "u32"), ("lo", "s64"), ("lo", "u64")})
BANK_SPECIALS = frozenset(f"%{name}.{axis}" for name in ("ntid", "nctaid") for axis in "xyz")
"""Special registers that the machine stores in a constant bank."""


def is_constant(operand: Operand) -> bool:
    """Whether an operand is a launch-wide constant."""
    if isinstance(operand, Special):
        return operand.name in BANK_SPECIALS
    return isinstance(operand, (Immediate, ConstantBank))


def is_free(operand: Operand) -> bool:
    """Whether an operand needs neither a register nor the constant port: zero."""
    return isinstance(operand, Immediate) and operand.value == 0


def is_charged(operand: Operand) -> bool:
    """Whether an operand occupies the single constant port of an instruction."""
    return is_constant(operand) and not is_free(operand)


def shift_position(instruction: Instruction) -> int:
    """Position of a power of two in a multiply-add, which LEA encodes as a shift; -1 if there is none."""
    if instruction.opcode != "mad" or instruction.modifiers not in LEA_MODIFIERS:
        return -1
    factor = instruction.sources[1]
    is_power = isinstance(factor, Immediate) and factor.form == "int" and factor.value > 0
    return 1 if is_power and isinstance(factor, Immediate) and factor.value.bit_count() == 1 else -1


def charged(instruction: Instruction) -> int:
    """Number of constants that an instruction reads."""
    shift = shift_position(instruction)
    return sum(is_charged(o) for i, o in enumerate(instruction.sources) if i != shift)


def source_types(instruction: Instruction) -> tuple[Type, ...] | None:
    """The type of each source operand; None if the table has no row or an operand holds several values."""
    if any(isinstance(o, Vector) for o in instruction.sources):
        return None
    try:
        types = signature(instruction).sources
    except UnsupportedError:
        return None
    return types if len(types) == len(instruction.sources) else None


def element_types(instruction: Instruction, position: int) -> tuple[Type, ...]:
    """Element types of a brace list among the sources; b32 if the table has no row."""
    first = len(flattened(instruction.sources[:position]))
    count = len(flattened(instruction.sources[position : position + 1]))
    try:
        return signature(instruction).sources[first : first + count]
    except UnsupportedError:
        return (B32,) * count


def fits(operand: Operand, slot: Type) -> bool:
    """Whether a constant fits a slot of this type."""
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
    """Positions of source operands that hold a constant but must be registers."""
    if instruction.traits.stores:
        for position, operand in enumerate(instruction.sources):
            if is_charged(operand):
                yield position
    elif instruction.traits.takes_constant:
        shift = shift_position(instruction)
        positions = [i for i, o in enumerate(instruction.sources) if is_charged(o) and i != shift]
        banked = [i for i in positions if not isinstance(instruction.sources[i], Immediate)]
        kept = (banked or positions)[-1:]
        yield from (i for i in positions if i not in kept)


def base_needs_register(instruction: Instruction, operand: Operand) -> bool:
    """Whether an address is that of a module variable outside constant memory, which must be in a register."""
    if not instruction.traits.takes_address or not isinstance(operand, Address):
        return False
    banked = isinstance(operand.base, ConstantBank)
    return banked and not {"const", "param"}.intersection(instruction.modifiers)


def brace_lists_are_registers(instruction: Instruction) -> bool:
    """Whether its brace lists are consecutive machine registers: stored elements, and parts of matrices."""
    return instruction.traits.stores or instruction.traits.is_matrix


def is_register(operand: Operand) -> bool:
    """Whether reading an operand reads a register."""
    return isinstance(operand, (Register, Not))
