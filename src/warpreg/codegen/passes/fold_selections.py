"""Folds comparisons of selected constants: a predicate need not pass through a register.

Front ends keep truth values in registers (``selp r, 1, 0, p``) and test them again (``setp.ne q, r, 0``).  The
predicate itself is one of seven that cost no access of the register file; the allocator spills predicates beyond them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.counter_values import RELATIONS
from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class FoldSelections:
    """``selp r, 1, 0, p; setp.ne q, r, 0`` makes q a copy of p, or of its negation."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Selections(Tracker(single_definitions(kernel))))


class _Selections:
    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        instruction = self._folded(instruction)
        self.tracker.add(instruction)
        return (instruction,)

    def _folded(self, test: Instruction) -> Instruction:
        if test.opcode != "setp" or len(test.modifiers) != 2 or not test.types or not test.types[0].is_integer:
            return test
        target, tested, bound = test.operands
        definition = self.tracker.definition(tested)
        if definition is None or definition.instruction.opcode != "selp" or not isinstance(target, Register):
            return test
        _, one, other, chosen = definition.instruction.operands
        outcomes = (_holds(test, one, bound), _holds(test, other, bound))
        if definition.instruction.guard or None in outcomes or outcomes[0] == outcomes[1]:
            return test
        if not isinstance(chosen, Register) or not self.tracker.holds(chosen, definition):
            return test
        return replace(test, opcode="mov" if outcomes[0] else "not", modifiers=("pred",), operands=(target, chosen))


def _holds(test: Instruction, value: Operand, bound: Operand) -> bool | None:
    """The outcome of a comparison of constants."""
    relation, kind = RELATIONS.get(test.modifiers[0], test.modifiers[0]), test.types[0]
    if relation not in COMPARE or not (isinstance(value, Immediate) and isinstance(bound, Immediate)):
        return None
    if value.form != "int" or bound.form != "int":
        return None
    size = 1 << kind.bits
    low = -size // 2 if kind.is_signed else 0
    return COMPARE[relation](*((number - low) % size + low for number in (value.value, bound.value)))
