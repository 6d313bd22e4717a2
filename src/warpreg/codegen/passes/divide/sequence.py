"""Builds the instructions that replace one division."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import Immediate, Operand, Register, Vector
from warpreg.ir.types import B32, B64, F32, F64, PRED, TYPES, Type


@dataclass
class Sequence:
    """``instructions`` so far, all at the location of ``template``; new registers are named ``prefix`` + a number."""

    template: Instruction
    prefix: str
    instructions: list[Instruction] = field(default_factory=list)
    serial: int = 0

    def add(self, opcode: str, target: Operand, *sources: Operand, guard: Guard | None = None) -> None:
        """Append ``opcode target, sources``; the opcode with its modifiers, as in PTX."""
        name, *modifiers = opcode.split(".")
        made = replace(self.template, opcode=name, modifiers=tuple(modifiers), operands=(target, *sources), guard=guard)
        self.instructions.append(made)

    def fresh(self, kind: Type) -> Register:
        """A new register."""
        self.serial += 1
        return Register(f"{self.prefix}{self.serial}", kind)

    def word(self, opcode: str, *sources: Operand) -> Register:
        """The 32-bit result of an instruction."""
        return self._made(B32, opcode, sources)

    def long(self, opcode: str, *sources: Operand) -> Register:
        """The 64-bit result of an instruction."""
        return self._made(B64, opcode, sources)

    def single(self, opcode: str, *sources: Operand) -> Register:
        """The f32 result of an instruction."""
        return self._made(F32, opcode, sources)

    def double(self, opcode: str, *sources: Operand) -> Register:
        """The f64 result of an instruction."""
        return self._made(F64, opcode, sources)

    def predicate(self, opcode: str, *sources: Operand) -> Register:
        """The predicate that an instruction sets."""
        return self._made(PRED, opcode, sources)

    def in_register(self, operand: Operand, kind: Type) -> Register:
        """An operand as a register: a constant is moved into one."""
        if isinstance(operand, Register):
            return operand
        return self._made(TYPES[kind.name], f"mov.{kind.name}", (operand,))

    def halves(self, value: Register) -> tuple[Register, Register]:
        """The low and the high word of a 64-bit register."""
        low, high = self.fresh(B32), self.fresh(B32)
        self.add("mov.b64", Vector((low, high)), value)
        return low, high

    def _made(self, kind: Type, opcode: str, sources: tuple[Operand, ...]) -> Register:
        target = self.fresh(kind)
        self.add(opcode, target, *sources)
        return target


def constant(value: int) -> Immediate:
    """An integer constant."""
    return Immediate(value)


def f32(bits: int) -> Immediate:
    """A single-precision constant by its bits."""
    return Immediate(bits, "f32")


def f64(bits: int) -> Immediate:
    """A double-precision constant by its bits."""
    return Immediate(bits, "f64")
