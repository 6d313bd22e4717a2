"""Small architected kernels written by hand: ``op("add.s32", r(1), r(0), 3)`` and ``kernel([...], [...])``."""

from __future__ import annotations

from dataclasses import replace

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Immediate, Operand, Register
from warpreg.ir.types import B32, B64, PRED

MODULE = Module("8.0", ("sm_80",), 64, ())


def r(index: int) -> Register:
    """The 32-bit register R<index>."""
    return Register(f"R{index}", B32, index)


def pair(index: int) -> Register:
    """The 64-bit register R<index>, R<index + 1>."""
    return Register(f"R{index}", B64, index)


def p(index: int) -> Register:
    """The predicate P<index>."""
    return Register(f"P{index}", PRED, index)


def at(base: Register, offset: int = 0) -> Address:
    """The memory operand [base + offset]."""
    return Address(base, offset)


def op(opcode: str, *operands: Operand | int) -> Instruction:
    """An instruction; plain integers are immediates."""
    base, *modifiers = opcode.split(".")
    return Instruction(base, tuple(modifiers), tuple(Immediate(o) if isinstance(o, int) else o for o in operands))


def when(predicate: Register, instruction: Instruction, negated: bool = False) -> Instruction:
    """The instruction under a guard."""
    return replace(instruction, guard=Guard(predicate, negated))


def kernel(*blocks: list[Instruction], successors: tuple[tuple[int, ...], ...] | None = None) -> Kernel:
    """A kernel of these blocks; without ``successors`` each falls into the next."""
    follow = successors or (*((i + 1,) for i in range(len(blocks) - 1)), ())
    placed = tuple(Block(i, f"b{i}", tuple(code), follow[i]) for i, code in enumerate(blocks))
    registers = [x for code in blocks for i in code for x in (*i.defined, *i.used)]
    count = 1 + max((w for x in registers for w in x.words), default=-1)
    predicates = 1 + max((x.index for x in registers if x.is_predicate), default=-1)
    return Kernel("hand", (), placed, MODULE, register_count=count, predicate_count=predicates)
