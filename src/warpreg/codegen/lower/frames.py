"""The stack frame of a function that is not inlined: the layout of its variables on the thread's stack.

Addresses are relative to the top of the stack, which moves only at calls; a function with ``alloca`` keeps the address
of its frame in a register instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from warpreg.codegen.lower.address_layout import align
from warpreg.codegen.lower.split_blocks import Item
from warpreg.codegen.lower.stack import ALIGNMENT, STACK, emit
from warpreg.codegen.machine.operand_rewriting import map_instruction
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.module import Function, Variable
from warpreg.ir.operands import Address, Immediate, Operand, Register, Symbol, Vector
from warpreg.ir.types import TYPES, Type

SPACES = frozenset({"param", "param::func", "local"})
RETURN_BYTES = 4
"""Size of the number of the return point, which is stored directly below a frame."""

Fresh = Callable[[str, str], Register]
"""Creates a new register, given a name and a type."""


@dataclass
class Routine:
    """One function of a group of mutual callers, laid out for one call from outside.

    ``frame`` maps unique names to the variables of an activation; ``parameters`` and ``results`` are names of formal
    ones; ``registers`` maps those that the function declares as registers to their registers.  ``items`` end where the
    function returns.  ``is_dynamic``: the size of its frame is not known statically (``alloca``).
    """

    function: Function
    label: str
    items: list[Item] = field(default_factory=list)
    frame: dict[str, Variable] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    registers: dict[str, Register | Vector] = field(default_factory=dict)
    is_dynamic: bool = False


class Frame:
    """``offsets`` of a routine's variables in its frame of ``bytes`` bytes; parameters and results come first."""

    def __init__(self, routine: Routine, in_registers: frozenset[str]) -> None:
        self.routine = routine
        self.offsets: dict[str, int] = {}
        self.bytes = 0
        for name, variable in routine.frame.items():
            if name not in in_registers:
                at = align(self.bytes, max(8, min(variable.natural_alignment, ALIGNMENT)))
                self.offsets[name], self.bytes = at, at + variable.bytes
        self.bytes = align(self.bytes, ALIGNMENT)
        self.base = Register(f"{routine.label}$frame", STACK.type) if routine.is_dynamic else STACK
        self.shift = 0 if routine.is_dynamic else -self.bytes

    def address(self, name: str, offset: int = 0) -> Address:
        """The address of a variable while the function's own code runs."""
        return Address(self.base, self.shift + self.offsets[name] + offset)

    def enter(self, template: Instruction) -> Iterator[Instruction]:
        """Allocate the frame, and load parameters that are registers."""
        if self.routine.is_dynamic:
            yield emit(template, "mov.b32", self.base, STACK)
        if self.bytes:
            yield emit(template, "add.u32", STACK, STACK, Immediate(self.bytes))
        for name in self.routine.parameters:
            for register, at, kind in self._elements(name):
                yield from load(template, register, at, kind)

    def leave(self, template: Instruction, fresh: Fresh) -> Iterator[Instruction]:
        """Store results that are registers, and release the frame: its first byte is then the top of the stack."""
        for name in self.routine.results:
            for register, at, kind in self._elements(name):
                yield from store(template, register, at, kind, fresh)
        if self.routine.is_dynamic:
            yield emit(template, "mov.b32", STACK, self.base)
        elif self.bytes:
            yield emit(template, "add.u32", STACK, STACK, Immediate(-self.bytes))

    def _elements(self, name: str) -> Iterator[tuple[Register, Address, Type]]:
        """The registers of a parameter or result that is declared as registers, each with its place in the frame and
        its type there."""
        if name in self.routine.registers:
            kind = self.routine.frame[name].type
            for i, register in enumerate(registers_of(self.routine.registers[name])):
                yield register, self.address(name, i * kind.bytes), kind

    def resolved(self, instruction: Instruction, fresh: Fresh) -> Iterator[Instruction]:
        """The instruction with the frame's variables replaced by their addresses."""
        if instruction.traits.is_call:
            yield instruction
            return
        before: list[Instruction] = []
        wide = bool(instruction.types) and instruction.types[-1].bits == 64

        def place(operand: Operand) -> Operand:
            if not isinstance(operand, Symbol) or operand.name not in self.offsets:
                return operand
            at = self.address(operand.name, operand.offset)
            narrow = fresh("%place", "b32")
            before.append(emit(instruction, "add.u32", narrow, self.base, Immediate(at.offset)))
            if not wide:
                return narrow
            before.append(emit(instruction, "cvt.u64.u32", fresh("%place", "b64"), narrow))
            return before[-1].operands[0]

        operands = tuple(self._direct(operand) for operand in instruction.operands)
        if operands != instruction.operands or self._names_one(instruction):
            modifiers = tuple("local" if m in SPACES else m for m in instruction.modifiers)
            instruction = replace(instruction, operands=operands, modifiers=modifiers)
        instruction = map_instruction(instruction, place)
        yield from before
        yield instruction

    def _direct(self, operand: Operand) -> Operand:
        if isinstance(operand, Address) and isinstance(operand.base, Symbol) and operand.base.name in self.offsets:
            return self.address(operand.base.name, operand.base.offset + operand.offset)
        return operand

    def _names_one(self, instruction: Instruction) -> bool:
        return any(isinstance(o, Symbol) and o.name in self.offsets for o in instruction.operands)


def save_area(registers: Sequence[Register]) -> tuple[list[tuple[Register, int]], int]:
    """Offsets of saved registers, the widest first, and the total bytes with the return point, a multiple of 16."""
    places, end = [], 0
    for register in sorted(registers, key=lambda r: (-r.type.bits, r.name)):
        size = 4 if register.is_predicate else register.type.bytes
        end = align(end, size)
        places.append((register, end))
        end += size
    return places, align(end + RETURN_BYTES, ALIGNMENT)


def store(template: Instruction, value: Operand, at: Address, kind: Type, fresh: Fresh) -> Iterator[Instruction]:
    """Store a register or constant as ``kind``; a predicate occupies a word."""
    if isinstance(value, Register) and value.is_predicate:
        flag = fresh("%flag", "b32")
        yield emit(template, "selp.b32", flag, Immediate(1), Immediate(0), value)
        yield emit(template, "st.local.b32", at, flag)
        return
    if isinstance(value, Immediate) and value.form != "int":  # a constant is written as f64, whatever the type
        number, value = value, fresh("%constant", kind.name)
        yield emit(template, f"mov.{kind}", value, number)
    yield emit(template, f"st.local.b{kind.bits}", at, value)


def load(template: Instruction, register: Register, at: Address, kind: Type) -> Iterator[Instruction]:
    """Load a register that `store` wrote as ``kind``."""
    if register.is_predicate:
        flag = Register(f"{register.name}$flag", TYPES["b32"])
        yield emit(template, "ld.local.b32", flag, at)
        yield emit(template, "setp.ne.u32", register, flag, Immediate(0))
    else:
        yield emit(template, f"ld.local.b{kind.bits}", register, at)
