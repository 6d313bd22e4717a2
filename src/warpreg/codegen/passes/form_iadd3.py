"""Forms three-input sums (IADD3): ``add t, a, b; add d, t, c`` becomes ``add3 d, a, b, c``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.machine.legality import is_charged
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand

SUMS = frozenset({("s32",), ("u32",)})


@dataclass(frozen=True)
class FormSums:
    """Merge a 32-bit sum into another sum of its block that is its only reader; at most one constant operand."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Sums(Tracker(single_definitions(kernel))))


class _Sums:
    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if _is_sum(instruction):
            instruction = self._joined(instruction)
        self.tracker.add(instruction)
        return (instruction,)

    def _joined(self, outer: Instruction) -> Instruction:
        target, *terms = outer.operands
        for partial, rest in (terms, terms[::-1]):
            inner = self._partial(partial)
            if inner and sum(map(is_charged, (*inner, rest))) <= 1:
                ordered = sorted((*inner, rest), key=is_charged)
                return replace(outer, opcode="add3", operands=(target, *ordered))
        return outer

    def _partial(self, operand: Operand) -> tuple[Operand, ...] | None:
        """The terms of a sum with no other reader, if their values are unchanged."""
        definition = self.tracker.own(operand)
        if definition is None or not _is_sum(definition.instruction):
            return None
        sources = definition.instruction.sources
        return sources if all(self.tracker.holds(o, definition) for o in sources) else None


def _is_sum(instruction: Instruction) -> bool:
    return instruction.opcode == "add" and instruction.modifiers in SUMS and instruction.guard is None
