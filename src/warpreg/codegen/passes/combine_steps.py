"""Combines chains of constant additions: the copies of an unrolled loop advance registers one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Register

LARGEST = 1 << 31
"""Constants of machine instructions have 32 bits."""


@dataclass(frozen=True)
class CombineSteps:
    """``add b, a, 4; add c, b, 4`` adds 8 to a, so that addresses can take the sums as offsets."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Steps(Tracker(single_definitions(kernel))))


class _Steps:
    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        instruction = self._combined(instruction)
        self.tracker.add(instruction)
        return (instruction,)

    def _combined(self, step: Instruction) -> Instruction:
        constant = _constant(step)
        definition = self.tracker.definition(step.operands[1]) if constant is not None else None
        if definition is None:
            return step
        first = definition.instruction
        earlier = _constant(first)
        if earlier is None or first.types[-1].bits != step.types[-1].bits or first.guard:
            return step
        if not self.tracker.holds(first.operands[1], definition) or abs(earlier + (constant or 0)) >= LARGEST:
            return step
        target = step.operands[0]
        return replace(step, operands=(target, first.operands[1], Immediate(earlier + (constant or 0))))


def _constant(step: Instruction) -> int | None:
    """The constant that a plain integer addition adds to a register."""
    if step.opcode != "add" or len(step.modifiers) != 1 or not step.types[-1].is_integer or step.types[-1].lanes != 1:
        return None
    base, constant = step.operands[1:3]
    if step.types[-1].bits < 32 or not isinstance(base, Register) or not isinstance(constant, Immediate):
        return None
    value: int = constant.value
    return value if constant.form == "int" and abs(value) < LARGEST else None
