"""Integer division by a constant as a multiplication by its reciprocal.

A power of two is a shift or a mask.  Any other divisor d is inverted to ``2**(32 + l) / d`` with enough bits that the
high word of the product, shifted, is the exact quotient (Granlund and Montgomery, "Division by Invariant Integers using
Multiplication", PLDI 1994, figures 4.2 and 5.2).  A remainder takes one multiply-add more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from warpreg.codegen.passes.base import rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.types import B32

WORD = 1 << 32


@dataclass(frozen=True)
class DivideByConstants:
    """``div`` and ``rem`` of u32 and s32 by immediates other than zero."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Divisions())


@dataclass
class _Divisions:
    count: int = 0

    def enter(self, block: int) -> None:
        del block

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if instruction.opcode not in ("div", "rem") or instruction.modifiers not in (("u32",), ("s32",)):
            return (instruction,)
        divisor = instruction.operands[2]
        if (
            not isinstance(divisor, Immediate)
            or divisor.form != "int"
            or divisor.value % WORD == 0
            or instruction.guard
        ):
            return (instruction,)
        self.count += 1
        steps = _Steps(instruction, f"%div{self.count}")
        unsigned = instruction.modifiers == ("u32",)
        number = divisor.value % WORD
        if unsigned:
            return steps.unsigned(number)
        return steps.signed(number - WORD if number >> 31 else number)


@dataclass
class _Steps:
    """The instructions that replace one division of ``dividend``."""

    division: Instruction
    prefix: str
    made: list[Instruction] = field(default_factory=list)

    @property
    def dividend(self) -> Operand:
        return self.division.operands[1]

    def unsigned(self, divisor: int) -> list[Instruction]:
        bits = (divisor - 1).bit_length()
        is_power = divisor == 1 << bits
        if is_power and self.division.opcode == "rem":
            return [self._step("and.b32", self.dividend, divisor - 1, last=True)]
        if is_power:
            return [self._step("shr.u32", self.dividend, bits, last=True)]
        high = self._new("mul.hi.u32", self.dividend, WORD * ((1 << bits) - divisor) // divisor + 1)
        rest = self._new("sub.u32", self.dividend, high)
        half = self._new("shr.u32", rest, 1)
        total = self._new("add.u32", high, half)
        return self._finished("shr.u32", total, bits - 1, divisor)

    def signed(self, divisor: int) -> list[Instruction]:
        size = abs(divisor)
        bits = (size - 1).bit_length()
        sign = self._new("shr.s32", self.dividend, 31)
        if size == 1 << bits:
            if bits == 0:
                return self._finished("mov.b32", self.dividend, None, divisor, negative=divisor < 0)
            bias = self._new("shr.u32", sign, 32 - bits)
            return self._finished(
                "shr.s32", self._new("add.s32", self.dividend, bias), bits, divisor, negative=divisor < 0
            )
        factor = (1 << 31 + bits) // size + 1 - WORD
        high = self._new("mul.hi.s32", self.dividend, factor)
        total = self._new("add.s32", high, self.dividend)
        shifted = self._new("shr.s32", total, bits - 1)
        terms = (sign, shifted) if divisor < 0 else (shifted, sign)
        return self._finished("sub.s32", *terms, divisor)

    def _finished(
        self, form: str, a: Operand, b: Operand | int | None, divisor: int, *, negative: bool = False
    ) -> list[Instruction]:
        """The last step of the quotient, its negative, and for a remainder the dividend less the product."""
        wants_quotient = self.division.opcode == "div"
        if wants_quotient and not negative:
            self.made.append(self._step(form, a, b, last=True))
            return self.made
        quotient = self._new(form, a, b)
        if wants_quotient:
            self.made.append(self._step("neg.s32", quotient, None, last=True))
        else:
            back = divisor if negative else -divisor
            self.made.append(self._step("mad.lo.s32", quotient, back, self.dividend, last=True))
        return self.made

    def _new(self, form: str, a: Operand, b: Operand | int | None) -> Register:
        target = Register(f"{self.prefix}.{len(self.made)}", B32)
        self.made.append(self._step(form, a, b, target=target))
        return target

    def _step(
        self,
        form: str,
        a: Operand,
        b: Operand | int | None,
        c: Operand | None = None,
        *,
        target: Operand | None = None,
        last: bool = False,
    ) -> Instruction:
        opcode, *modifiers = form.split(".")
        result = self.division.operands[0] if last or target is None else target
        sources = [a, _immediate(b) if isinstance(b, int) else b, c]
        operands = (result, *(o for o in sources if o is not None))
        return replace(self.division, opcode=opcode, modifiers=tuple(modifiers), operands=operands)


def _immediate(value: int) -> Immediate:
    """A word as a signed constant."""
    value %= WORD
    return Immediate(value - WORD if value >> 31 else value)
