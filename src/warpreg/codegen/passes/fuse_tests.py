"""Merges predicate logic into comparisons: the machine's ISETP combines its result with another predicate.

``setp.ge.s32 p, a, b; or.pred r, p, q`` becomes ``setp.ge.or.s32 r, a, b, q`` if nothing else reads p.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.passes.base import Definition, Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register

OPERATORS = frozenset({"and", "or", "xor"})


@dataclass(frozen=True)
class FuseTests:
    """Merge predicate logic on a comparison's result into the comparison."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Tests(Tracker(single_definitions(kernel))))


class _Tests:
    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if instruction.opcode in OPERATORS and instruction.modifiers == ("pred",) and instruction.guard is None:
            instruction = self._fused(instruction)
        self.tracker.add(instruction)
        return (instruction,)

    def _fused(self, logic: Instruction) -> Instruction:
        target, *predicates = logic.operands
        candidates = [(self._comparison(p), q) for p, q in (predicates, predicates[::-1])]
        found = [(d, q) for d, q in candidates if d is not None]
        if not found:
            return logic
        definition, other = max(found, key=lambda pair: pair[0].position)
        compare = definition.instruction
        relation, *rest = compare.modifiers
        return replace(
            logic,
            opcode="setp",
            modifiers=(relation, logic.opcode, *rest),
            operands=(target, *compare.sources, other),
        )

    def _comparison(self, predicate: Operand) -> Definition | None:
        """The comparison that only this instruction reads, if it can be moved here within the block."""
        definition = self.tracker.own(predicate)
        if definition is None:
            return None
        compare = definition.instruction
        plain = compare.opcode == "setp" and len(compare.sources) == 2 and isinstance(compare.operands[0], Register)
        holds = plain and all(self.tracker.holds(o, definition) for o in compare.sources)
        return definition if holds else None
