"""The thread's stack in local memory: ``alloca``, ``stacksave``, ``stackrestore`` (PTX ISA, "Stack Manipulation
Instructions").

The stack is above everything else in local memory and grows upward; `STACK` is its first free byte, a multiple of 16.
An ``alloca`` beyond the end of the stack reads there, so that the bounds check detects the overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import Address, Immediate, Operand, Register, Special
from warpreg.ir.types import TYPES, Type

STACK = Register("%stack", TYPES["b32"])
STACK_BASE = Special("%stack_base")
"""The start of the stack, which the launch supplies."""

STACK_END = Special("%stack_end")
"""The size of a thread's local memory, of which the stack is the last part."""

STACK_OPCODES = frozenset({"alloca", "stacksave", "stackrestore"})
ALIGNMENT = 16
MOST = 1 << 24
"""More bytes than any stack; a larger ``alloca`` is clamped to this, so that sums do not wrap."""


def emit(template: Instruction, opcode: str, *operands: Operand) -> Instruction:
    """``opcode`` written with its dots, unguarded, at the place of ``template``."""
    name, *modifiers = opcode.split(".")
    return replace(template, opcode=name, modifiers=tuple(modifiers), operands=operands, guard=None)


def is_stack_instruction(instruction: Instruction) -> bool:
    """Whether it is one of `STACK_OPCODES` with valid operands."""
    if instruction.opcode not in STACK_OPCODES or [m for m in instruction.modifiers if m in ("u32", "u64")] == []:
        return False
    target, *sources = instruction.operands or (Immediate(0),)
    registers = [o for o in (target, *sources) if isinstance(o, Register)]
    known = isinstance(target, Register) and all(isinstance(o, (Register, Immediate)) for o in sources)
    counts = (1, 2) if instruction.opcode == "alloca" else (0,)
    alignment = sources[1] if len(sources) > 1 else Immediate(ALIGNMENT)
    if not isinstance(alignment, Immediate) or alignment.value.bit_count() != 1 or not 0 < alignment.value <= MOST:
        return False
    return known and len(sources) in counts and all(r.type.bits == instruction.types[-1].bits for r in registers)


def stack_instruction(instruction: Instruction, fresh: Register) -> Iterator[Instruction]:
    """The replacement of an instruction of `STACK_OPCODES`, without its guard; ``fresh`` is a new 64-bit register."""
    target, *sources = instruction.operands
    kind = instruction.types[-1]
    if instruction.opcode == "stacksave":
        yield _resized(instruction, target, STACK, kind)
    elif instruction.opcode == "stackrestore":
        yield _resized(instruction, STACK, target, kind)
    else:
        alignment = sources[1].value if len(sources) > 1 and isinstance(sources[1], Immediate) else ALIGNMENT
        if alignment > ALIGNMENT:
            yield emit(instruction, "add.u32", STACK, STACK, Immediate(alignment - 1))
            yield emit(instruction, "and.b32", STACK, STACK, Immediate(-alignment))
        size = sources[0]
        if kind.bits == 64 or isinstance(size, Immediate):
            yield emit(instruction, "mov.b64", fresh, size)
        else:
            yield emit(instruction, "cvt.u64.u32", fresh, size)
        yield _resized(instruction, target, STACK, kind)
        yield emit(instruction, "min.u64", fresh, fresh, Immediate(MOST))
        yield emit(instruction, "add.s64", fresh, fresh, Immediate(ALIGNMENT - 1))
        yield emit(instruction, "and.b64", fresh, fresh, Immediate(-ALIGNMENT))
        low = Register(fresh.name + "$low", TYPES["b32"])
        yield emit(instruction, "cvt.u32.u64", low, fresh)
        yield emit(instruction, "add.u32", STACK, STACK, low)
        over = Register(fresh.name + "$over", TYPES["pred"])
        yield emit(instruction, "setp.gt.u32", over, STACK, STACK_END)
        probe = emit(instruction, "ld.volatile.local.b32", low, Address(STACK))
        yield replace(probe, guard=Guard(over))


def _resized(template: Instruction, target: Operand, source: Operand, kind: Type) -> Instruction:
    """A move between the 32-bit stack pointer and a value of ``kind``."""
    if kind.bits == 32:
        return emit(template, "mov.b32", target, source)
    return emit(template, "cvt.u64.u32" if source is STACK else "cvt.u32.u64", target, source)
