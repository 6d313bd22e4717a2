"""Counted loops: the test that ends a loop, as a comparison of an arithmetic progression with a constant bound.

A register x advances by a constant step in every iteration, and the loop goes on while ``x + offset`` compares with the
bound (an induction variable: Aho, Lam, Sethi and Ullman, "Compilers", section 9.1.7).  All arithmetic is modulo the
width of the register; a loop whose progression would wrap around before the test fails has no known count.
`warpreg.analysis.trip_counts` proves constant counts alone; unrolling needs the registers, and bounds that vary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.counter_values import MAX_STEPS, OPPOSITE, RELATIONS, SWAPPED, runs
from warpreg.analysis.dominators import dominators
from warpreg.analysis.loops import Loop, loops
from warpreg.codegen.machine.side_effects import is_pure
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank, Immediate, Operand, Register, Special
from warpreg.ir.types import Type

WIDTHS = (32, 64)
COMMON = ("%ctaid", "%ntid", "%nctaid")
"""Special registers that are the same in all threads of a block."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A loop goes on at the end of ``block`` while ``register + offset`` ``comparison`` ``bound`` holds."""

    block: int
    register: Register
    """Read at the header."""
    type: Type
    comparison: str
    offset: int
    step: int
    """What the register gains in each iteration."""
    start: int | None
    """What the register starts with, if that is known."""
    bound: Operand
    test: Instruction
    is_tested_late: bool
    """The tested register is written before the test, so it still has the tested value afterwards."""

    @property
    def tests(self) -> int | None:
        """How often the test is evaluated, the failing one included; None if unknown."""
        if self.start is None or not isinstance(self.bound, Immediate):
            return None
        return runs(self.comparison, self.start + self.offset, self.step, self.bound.value, self.type)


class LoopCounters:
    """Finds the counters of a kernel's loops.  Registers should be split into values and constants be folded."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.flow, self.tree, self.forest = control_flow(kernel), dominators(kernel), loops(kernel)
        self.definitions: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for block in kernel.blocks:
            for position, instruction in enumerate(block.instructions):
                for register in instruction.defined:
                    self.definitions[register.name].append((block.index, position))

    def of(self, index: int) -> Counter | None:
        """The counter of a loop, by its number in the kernel's `LoopForest`; one with a known count first."""
        found = list(self._counters(self.forest.loops[index], index))
        return min(found, key=lambda c: c.tests is None, default=None)

    def is_invariant(self, name: str, loop: Loop) -> bool:
        """Whether no instruction of the loop writes the register."""
        return not any(block in loop.blocks for block, _ in self.definitions[name])

    def is_uniform(self, counter: Counter, index: int) -> bool:
        """Whether all threads of a block surely run the loop equally often each time: its start and its bound follow
        from constants, parameters and indices of the block."""
        inside = self.forest.loops[index].blocks
        starts = [place for place in self.definitions[counter.register.name] if place[0] not in inside]
        return self._is_common(counter.bound) and all(self._is_common_at(place) for place in starts)

    def known(self, index: int) -> frozenset[str]:
        """Registers that start with a constant and advance by constants."""
        loop = self.forest.loops[index]
        names = set[str]()
        for block in loop.blocks:
            for register in (r for i in self.kernel.blocks[block].instructions for r in i.defined):
                update = self._definition(register.name, loop, index)
                advanced = self._result(update, loop, index) if update else None
                if advanced and advanced[0] == register and self._start(register, loop) is not None:
                    names.add(register.name)
        return frozenset(names)

    def _is_common(self, operand: Operand, depth: int = MAX_STEPS) -> bool:
        if isinstance(operand, Register):
            places = self.definitions[operand.name]
            return depth > 0 and len(places) == 1 and self._is_common_at(places[0], depth)
        if isinstance(operand, Special):
            return operand.name.startswith(COMMON)
        return isinstance(operand, (Immediate, ConstantBank))

    def _is_common_at(self, place: tuple[int, int], depth: int = MAX_STEPS) -> bool:
        instruction = self._at(place)
        if instruction.guard or not is_pure(instruction):
            return False
        return all(self._is_common(operand, depth - 1) for operand in instruction.sources)

    def _counters(self, loop: Loop, index: int) -> Iterator[Counter]:
        for block in sorted(loop.blocks):
            leaves = [s for s in self.flow.successors[block] if s not in loop.blocks]
            if len(leaves) == 1 and self._is_once(block, loop, index):
                counter = self._test(block, loop, index)
                if counter:
                    yield counter

    def _is_once(self, block: int, loop: Loop, index: int) -> bool:
        """Whether the block runs exactly once in each complete iteration."""
        return self.forest.innermost[block] == index and all(self.tree.dominates(block, e) for e in loop.latches)

    def _test(self, block: int, loop: Loop, index: int) -> Counter | None:
        branch = self.kernel.blocks[block].terminator
        if branch is None or not branch.traits.is_direct or branch.guard is None:
            return None
        end = (block, len(self.kernel.blocks[block].instructions) - 1)
        place = self._definition(branch.guard.register.name, loop, index)
        if place is None or not self._precedes(place, end):
            return None
        test = self._at(place)
        if (
            test.opcode != "setp"
            or test.guard
            or len(test.modifiers) != 2
            or not isinstance(test.operands[0], Register)
        ):
            return None
        stays_if_taken = self.kernel.blocks[block].successors[0] in loop.blocks
        comparison = RELATIONS.get(test.modifiers[0], test.modifiers[0])
        if comparison not in OPPOSITE or not test.types[0].is_integer or test.types[0].bits not in WIDTHS:
            return None
        if stays_if_taken == branch.guard.negated:
            comparison = OPPOSITE[comparison]
        _, a, b = test.operands
        return self._counter(block, loop, index, place, (comparison, a, b)) or self._counter(
            block, loop, index, place, (SWAPPED[comparison], b, a)
        )

    def _counter(
        self, block: int, loop: Loop, index: int, place: tuple[int, int], test: tuple[str, Operand, Operand]
    ) -> Counter | None:
        comparison, tested, bound = test
        kind = self._at(place).types[0]
        if not self._is_bound(bound, loop) or not isinstance(tested, Register) or tested.type.bits != kind.bits:
            return None
        value = self._value(tested, place, loop, index)
        if value is None:
            return None
        register, offset = value
        update = self._definition(register.name, loop, index)
        advanced = self._result(update, loop, index) if update else None
        if advanced is None or advanced[0] != register:
            return None
        start = self._start(register, loop)
        written = self._definition(tested.name, loop, index)
        late = written is not None and self._precedes(written, place)
        return Counter(
            block, register, kind, comparison, offset, advanced[1], start, bound, self._at(place), late
        )  # fmt: skip

    def _is_bound(self, operand: Operand, loop: Loop) -> bool:
        if isinstance(operand, Register):
            return self.is_invariant(operand.name, loop)
        return isinstance(operand, ConstantBank) or (isinstance(operand, Immediate) and operand.form == "int")

    def _value(self, register: Register, place: tuple[int, int], loop: Loop, index: int) -> tuple[Register, int] | None:
        """A register at a place in the loop as the value of a register at the header, plus a constant."""
        written = self._definition(register.name, loop, index)
        if written is None:
            return None
        return self._result(written, loop, index) if self._precedes(written, place) else (register, 0)

    def _result(self, place: tuple[int, int], loop: Loop, index: int) -> tuple[Register, int] | None:
        """The result of a copy, or of an addition of a constant, in the terms of `_value`."""
        instruction = self._at(place)
        if instruction.guard or not instruction.types or instruction.types[-1].bits not in WIDTHS:
            return None
        if not instruction.types[-1].is_integer or not set(instruction.modifiers) <= {
            t.name for t in instruction.types
        }:
            return None
        target, *sources = instruction.operands
        constant = sources[1] if len(sources) == 2 else Immediate(0)
        if instruction.opcode != ("add" if len(sources) == 2 else "mov") or not isinstance(sources[0], Register):
            return None
        if not isinstance(constant, Immediate) or constant.form != "int" or not isinstance(target, Register):
            return None
        if sources[0].type.bits != target.type.bits:
            return None
        value = self._value(sources[0], place, loop, index)
        signed = constant.value & (1 << target.type.bits) - 1
        signed -= (signed >> target.type.bits - 1) << target.type.bits
        return (value[0], value[1] + signed) if value else None

    def _start(self, register: Register, loop: Loop) -> int | None:
        """The constant that a register holds when the loop begins."""
        outside = [p for p in self.definitions[register.name] if p[0] not in loop.blocks]
        if len(outside) != 1 or not self._is_set_anew(outside[0][0], loop):
            return None
        move = self._at(outside[0])
        if move.opcode != "mov" or move.guard or len(move.operands) != 2:
            return None
        value = move.operands[1]
        return value.value if isinstance(value, Immediate) and value.form == "int" else None

    def _is_set_anew(self, block: int, loop: Loop) -> bool:
        """Whether every path that enters the loop runs ``block`` after the last time that the loop was left."""
        if not self.tree.dominates(block, loop.header):
            return False
        left = [s for b in loop.blocks for s in self.flow.successors[b] if s not in loop.blocks]
        work, seen = [s for s in left if s != block], set[int]()
        while work:
            passed = work.pop()
            if passed == loop.header:
                return False
            if passed not in seen:
                seen.add(passed)
                work.extend(s for s in self.flow.successors[passed] if s != block)
        return True

    def _definition(self, name: str, loop: Loop, index: int) -> tuple[int, int] | None:
        """The only place in the loop that writes a register, if it runs once in every iteration."""
        inside = [p for p in self.definitions[name] if p[0] in loop.blocks]
        if len(inside) != 1 or not self._is_once(inside[0][0], loop, index):
            return None
        return inside[0]

    def _precedes(self, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Whether one place is passed before the other in every iteration."""
        if first[0] == second[0]:
            return first[1] < second[1]
        return self.tree.dominates(first[0], second[0])

    def _at(self, place: tuple[int, int]) -> Instruction:
        return self.kernel.blocks[place[0]].instructions[place[1]]
