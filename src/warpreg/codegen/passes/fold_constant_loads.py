"""Replaces loads of constant memory at compile-time addresses by operands in constant bank 3.

NVIDIA's machine code reads such a word as a constant operand, ``c[3][...]``.  A load that is indexed at run time,
narrower than a register, misaligned or out of bounds of its variable is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.lower.address_layout import CONSTANT_BANK, VARIABLE_BANK
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel, Placement
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register, Vector
from warpreg.ir.types import TYPES

WORDS = frozenset({32, 64})
WIDE_SUMS = frozenset({("s64",), ("u64",)})


@dataclass(frozen=True)
class FoldConstantLoads:
    """``ld.const.f32 %f1, [table+8]`` to ``mov.b32 %f1, c[3][table+8]``, a move for each element of a vector."""

    def run(self, kernel: Kernel) -> Kernel:
        constants = {p.variable.name: p for p in kernel.placements if p.space == "const"}
        if not constants:
            return kernel
        return rewrite(kernel, _ConstantLoads(constants, Tracker(single_definitions(kernel))))


class _ConstantLoads:
    def __init__(self, constants: Mapping[str, Placement], tracker: Tracker) -> None:
        self.constants = constants
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        self.tracker.add(instruction)
        if not instruction.traits.loads or "const" not in instruction.modifiers:
            return (instruction,)
        target, address = instruction.operands[:2]
        targets = target.elements if isinstance(target, Vector) else (target,)
        words = self._words(address, instruction.types[-1].bits, len(targets))
        if words is None or any(isinstance(t, Register) and t.type.bits != words[0].type.bits for t in targets):
            return (instruction,)
        return [
            replace(instruction, opcode="mov", modifiers=(word.type.name,), operands=(t, word))
            for t, word in zip(targets, words, strict=True)
            if isinstance(t, Register)
        ]

    def _words(self, address: Operand, bits: int, count: int) -> list[ConstantBank] | None:
        """``count`` words of the bank, of ``bits`` each; None if the load must be kept."""
        place = self._place(address.base, address.offset) if isinstance(address, Address) and bits in WORDS else None
        if place is None or place.name not in self.constants:
            return None
        placement, step = self.constants[place.name], bits // 8
        whole = step * count
        aligned = place.offset % whole == 0 and placement.variable.natural_alignment % whole == 0
        if not aligned or not 0 <= place.offset <= placement.bytes - whole:
            return None
        offsets = range(place.offset, place.offset + whole, step)
        return [ConstantBank(CONSTANT_BANK, offset, TYPES[f"b{bits}"], place.name) for offset in offsets]

    def _place(self, base: Operand, offset: int) -> ConstantBank | None:
        """The bank word at ``offset`` from a constant address; None if ``base`` is not constant."""
        while isinstance(base, Register):
            definition = self.tracker.definition(base)
            if definition is None:
                return None
            maker = definition.instruction
            if maker.opcode == "add" and maker.modifiers in WIDE_SUMS and isinstance(maker.operands[2], Immediate):
                base, offset = maker.operands[1], offset + maker.operands[2].value
            elif maker.opcode == "mov" and len(maker.operands) == 2:
                base = maker.operands[1]
            else:
                return None
        if isinstance(base, ConstantBank) and base.bank == VARIABLE_BANK and base.name:
            return replace(base, offset=base.offset + offset)
        return None
