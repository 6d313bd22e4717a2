"""Replaces ``ld.param`` by a move from constant bank 0.

Later passes fold the bank word into the instruction that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.codegen.lower.address_layout import PARAMETER_BANK
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, ConstantBank, Operand, Register, Vector
from warpreg.ir.types import TYPES, Type


@dataclass(frozen=True)
class FoldParameters:
    """``ld.param.u32 %r1, [c[0][0x10]]`` to ``mov.b32 %r1, c[0][0x10]``; narrow parameters are converted as ``ld``
    does."""

    def run(self, kernel: Kernel) -> Kernel:
        return with_blocks(kernel, {b.index: _folded(b.instructions) for b in kernel.blocks})


def _folded(instructions: Iterable[Instruction]) -> Iterable[Instruction]:
    return (move for instruction in instructions for move in _moves(instruction))


def _moves(instruction: Instruction) -> Iterable[Instruction]:
    if not instruction.traits.loads or "param" not in instruction.modifiers:
        return (instruction,)
    target, address = instruction.operands[:2]
    if not isinstance(address, Address) or not isinstance(address.base, ConstantBank):
        return (instruction,)
    kind = instruction.types[-1]
    targets = target.elements if isinstance(target, Vector) else (target,)
    first = address.base.offset + address.offset
    words = [ConstantBank(PARAMETER_BANK, first + i * kind.bytes, kind) for i in range(len(targets))]
    pairs = [(t, w) for t, w in zip(targets, words, strict=True) if isinstance(t, Register)]
    if any(t.type.bits < kind.bits for t, _ in pairs) or kind.bits > 64:
        return (instruction,)
    return [_move(instruction, t, w, kind) for t, w in pairs]


def _move(template: Instruction, target: Register, word: Operand, kind: Type) -> Instruction:
    if target.type.bits == kind.bits:
        modifiers: tuple[str, ...] = (f"b{kind.bits}",)
        return replace(template, opcode="mov", modifiers=modifiers, operands=(target, word))
    sign = "s" if kind.is_signed else "u"
    source = TYPES[f"{sign}{kind.bits}"]
    if isinstance(word, ConstantBank):
        word = replace(word, type=source)
    modifiers = (f"{sign}{target.type.bits}", source.name)
    return replace(template, opcode="cvt", modifiers=modifiers, operands=(target, word))
