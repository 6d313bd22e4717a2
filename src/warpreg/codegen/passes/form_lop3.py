"""Merges logic operations into LOP3, which computes any bitwise function of three words.

``and t, a, b; or d, t, c`` becomes ``lop3 d, a, b, c, 0xea`` if nothing else reads t.  Bit i of the table is the result
for source bits that form the number i (PTX ISA, "Logic and Shift Instructions: lop3").
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.codegen.machine.legality import is_charged
from warpreg.codegen.passes.base import Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand

COLUMNS = (0xF0, 0xCC, 0xAA)
"""The tables of the first, second and third source alone."""
ALL = 0xFF
WORDS = frozenset({("b32",)})
TWO_SOURCES: dict[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
FORMS = frozenset({*TWO_SOURCES, "not", "lop3"})


@dataclass(frozen=True)
class FormLogic:
    """Merge 32-bit logic instructions that together have at most three sources, at most one of them constant."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Logic(Tracker(single_definitions(kernel))))


@dataclass(frozen=True)
class _Function:
    """A function of ``leaves``, at most three; ``table`` over `COLUMNS` in their order."""

    leaves: tuple[Operand, ...]
    table: int


class _Logic:
    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.enter = tracker.enter

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        function = _function(instruction)
        if function and instruction.guard is None:
            instruction = self._merged(instruction, function)
        self.tracker.add(instruction)
        return (instruction,)

    def _merged(self, instruction: Instruction, function: _Function) -> Instruction:
        merged = function
        while larger := self._absorbed(merged):
            merged = larger
        if merged is function:
            return instruction
        leaves = (*merged.leaves, Immediate(0), Immediate(0))[:3]
        operands = (*instruction.results, *leaves, Immediate(merged.table))
        return replace(instruction, opcode="lop3", modifiers=("b32",), operands=operands)

    def _absorbed(self, function: _Function) -> _Function | None:
        """The function with one leaf replaced by its computation, if at most three sources remain."""
        for position, leaf in enumerate(function.leaves):
            inner = self._inner(leaf)
            others = [o for i, o in enumerate(function.leaves) if i != position]
            leaves = tuple(sorted(dict.fromkeys((*others, *inner.leaves)), key=is_charged)) if inner else ()
            if inner and len(leaves) <= 3 and sum(map(is_charged, leaves)) <= 1:
                return _Function(leaves, _composed(function, position, inner, leaves))
        return None

    def _inner(self, leaf: Operand) -> _Function | None:
        """The function that computes a leaf, if it is in the same block and has no other reader."""
        definition = self.tracker.own(leaf)
        function = None if definition is None else _function(definition.instruction)
        if definition is None or function is None:
            return None
        return function if all(self.tracker.holds(o, definition) for o in function.leaves) else None


def _function(instruction: Instruction) -> _Function | None:
    """A 32-bit logic instruction as a function of its distinct sources."""
    if instruction.modifiers not in WORDS or instruction.opcode not in FORMS:
        return None
    *sources, last = instruction.sources
    if instruction.opcode == "lop3":
        if not isinstance(last, Immediate):
            return None
        leaves = tuple(dict.fromkeys(s for s in sources if s != Immediate(0)))
        columns = [_column(s, leaves) for s in sources]
        return _Function(leaves, _looked_up(last.value, columns))
    leaves = tuple(dict.fromkeys(instruction.sources))
    columns = [_column(s, leaves) for s in instruction.sources]
    operation = TWO_SOURCES.get(instruction.opcode)
    return _Function(leaves, operation(*columns) if operation else columns[0] ^ ALL)


def _column(source: Operand, leaves: tuple[Operand, ...]) -> int:
    return COLUMNS[leaves.index(source)] if source in leaves else 0


def _looked_up(table: int, columns: list[int]) -> int:
    """The function ``table`` of three columns, as a table itself."""
    result = 0
    for row in range(8):
        index = sum((column >> row & 1) << weight for column, weight in zip(columns, (2, 1, 0), strict=True))
        result |= (table >> index & 1) << row
    return result


def _composed(outer: _Function, position: int, inner: _Function, leaves: tuple[Operand, ...]) -> int:
    """The table of ``outer`` with its leaf at ``position`` computed by ``inner``, over ``leaves``."""
    inside = _looked_up(inner.table, _padded([_column(o, leaves) for o in inner.leaves]))
    columns = [inside if i == position else _column(o, leaves) for i, o in enumerate(outer.leaves)]
    return _looked_up(outer.table, _padded(columns))


def _padded(columns: list[int]) -> list[int]:
    return [*columns, 0, 0][:3]
