"""Values of registers in terms of the counter of a loop, and how often the loop runs for a comparison of one.

A counter is a value (`warpreg.analysis.values`) with definitions outside the loop and one inside, which adds a
constant.  Registers that the loop derives from it by ``mov``, ``add`` and ``sub`` with constants are known too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.analysis.accesses import accesses
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.loops import Loop
from warpreg.analysis.values import values
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.types import Type

MAX_STEPS = 8
"""Instructions that one value is followed through."""
RELATIONS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
Webs = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Affine:
    """The value that a counter has at the start of an iteration, plus ``offset``."""

    counter: Webs
    offset: int


class Counters:
    """The counters of one loop; ``once`` says whether a block runs exactly once in each of its iterations."""

    def __init__(self, kernel: Kernel, loop: Loop, once: Callable[[int], bool]) -> None:
        self._kernel, self._loop, self._once = kernel, loop, once
        self._code = list(kernel.instructions())
        self._block = [block.index for block in kernel.blocks for _ in block.instructions]
        self._table, self._values = accesses(kernel), values(kernel)

    def iterations(self, predicate: Register, pc: int, continues: bool) -> int | None:
        """How often the header runs for each entry of the loop, if a branch at ``pc`` stays in the loop while the
        predicate is ``continues``; None where that is not proved.
        """
        webs = self._webs(predicate, pc)
        compare = self._inside(webs)
        if compare is None or self._outside(webs):
            return None
        code = self._code[compare]
        relation, *types = code.modifiers
        relation = RELATIONS.get(relation, relation)
        if code.opcode != "setp" or len(types) != 1 or relation not in OPPOSITE or len(code.types) != 1:
            return None
        for (left, right), order in zip((code.sources, code.sources[::-1]), (relation, SWAPPED[relation]), strict=True):
            value, bound = self._affine(left, compare), self.constant(right, compare)
            if value is None or bound is None:
                continue
            first, step = self._first(value.counter), self._step(value.counter)
            if first is None or step is None:
                return None
            wanted = order if continues else OPPOSITE[order]
            return runs(wanted, first + value.offset, step, bound, code.types[0])
        return None

    def constant(self, operand: Operand, pc: int) -> int | None:
        """The number that a source has at ``pc`` on every path."""
        if isinstance(operand, Immediate):
            return operand.value if operand.form == "int" else None
        if not isinstance(operand, Register):
            return None
        webs = self._webs(operand, pc)
        if any(self._values.values[web].undefined for web in webs):
            return None
        return self._common({d for web in webs for d in self._values.values[web].definitions}, webs)

    def _common(self, definitions: set[int], webs: Webs) -> int | None:
        """The constant that all these instructions move to the register of these webs."""
        found = {self._moved(pc, webs) for pc in definitions}
        return found.pop() if len(found) == 1 else None

    def _moved(self, pc: int, webs: Webs) -> int | None:
        code = self._code[pc]
        is_move = code.opcode == "mov" and code.guard is None and self._values.written[pc] == webs
        return self.constant(code.sources[0], pc) if is_move and isinstance(code.sources[0], Immediate) else None

    def _affine(self, operand: Operand, pc: int, steps: int = MAX_STEPS) -> Affine | None:
        """A source at ``pc`` in terms of a counter."""
        if not isinstance(operand, Register):
            return None
        webs = self._webs(operand, pc)
        changed = self._inside(webs)
        if changed is None or steps == 0:
            return None
        if not self._outside(webs):
            return self._result(changed, webs, steps)
        if self._precedes(changed, pc):
            step = self._step(webs, steps)
            return None if step is None else Affine(webs, step)
        return Affine(webs, 0)

    def _result(self, pc: int, webs: Webs, steps: int) -> Affine | None:
        """The result of an instruction in terms of a counter."""
        code = self._code[pc]
        if code.guard is not None or self._values.written[pc] != webs or len(code.modifiers) != 1 or not code.types:
            return None
        if not code.types[0].is_integer or code.types[0].bits != 32 * len(webs):
            return None
        sources = code.sources
        if code.opcode == "mov" and len(sources) == 1:
            return self._affine(sources[0], pc, steps - 1)
        if code.opcode not in ("add", "sub") or len(sources) != 2:
            return None
        for base, other in (sources, sources[::-1])[: 1 if code.opcode == "sub" else 2]:
            value, added = self._affine(base, pc, steps - 1), self.constant(other, pc)
            if value is not None and added is not None:
                sign = -1 if code.opcode == "sub" else 1
                return Affine(value.counter, value.offset + sign * _signed(added, code.types[0].bits))
        return None

    def _step(self, counter: Webs, steps: int = MAX_STEPS) -> int | None:
        """What an iteration adds to a counter."""
        changed = self._inside(counter)
        found = None if changed is None else self._result(changed, counter, steps)
        return found.offset if found is not None and found.counter == counter else None

    def _first(self, counter: Webs) -> int | None:
        """What a counter is each time that the loop is entered."""
        outside = self._outside(counter)
        successors, anew = control_flow(self._kernel).successors, {self._block[pc] for pc in outside}
        left = [s for block in self._loop.blocks for s in successors[block] if s not in self._loop.blocks]
        work, seen = [b for b in left if b not in anew], set[int]()
        while work:  # a path from an exit back to the header that does not set the counter again
            block = work.pop()
            if block == self._loop.header:
                return None
            if block not in seen:
                seen.add(block)
                work.extend(s for s in successors[block] if s not in anew)
        return self._common(outside, counter)

    def _inside(self, webs: Webs) -> int | None:
        """The one instruction in the loop that writes these webs, if it does so in every iteration."""
        found = {pc for web in webs for pc in self._values.values[web].definitions if self._is_inside(pc)}
        if len(found) != 1 or any(self._values.values[web].undefined for web in webs):
            return None
        pc = found.pop()
        return pc if self._code[pc].guard is None and self._once(self._block[pc]) else None

    def _outside(self, webs: Webs) -> set[int]:
        return {pc for web in webs for pc in self._values.values[web].definitions if not self._is_inside(pc)}

    def _is_inside(self, pc: int) -> bool:
        return self._block[pc] in self._loop.blocks

    def _precedes(self, first: int, then: int) -> bool:
        """Whether ``first`` runs before ``then`` in an iteration; both run once in it."""
        one, other = self._block[first], self._block[then]
        if one == other:
            return first < then
        successors = control_flow(self._kernel).successors
        work, seen = [one], {self._loop.header}
        while work:
            for block in successors[work.pop()]:
                if block in self._loop.blocks and block not in seen:
                    seen.add(block)
                    work.append(block)
        return other in seen and other != self._loop.header

    def _webs(self, register: Register, pc: int) -> Webs:
        """The values of a register that the instruction at ``pc`` reads, lowest word first."""
        cells = self._table.cells.of(register)
        known = dict(zip(self._table.read[pc], self._values.read[pc], strict=True))
        return tuple(known[cell] for cell in cells)


def runs(relation: str, first: int, step: int, bound: int, compared: Type) -> int | None:
    """How often a loop runs that stays while ``first + n * step`` has this relation to ``bound`` at its n-th test.

    None where it never ends, or would end only after the number has wrapped around in the type of the comparison.
    """
    if compared.bits not in (32, 64) or not compared.is_integer:
        return None
    first, bound = (_as(number, compared) for number in (first, bound))
    n = _tests_passed(relation, bound - first, step)
    if n is None or _as(first + n * step, compared) != first + n * step:
        return None
    return n + 1


def _tests_passed(relation: str, distance: int, step: int) -> int | None:
    """Tests that succeed before the first that fails; ``distance`` is the bound minus the first number."""
    holds = {"lt": distance > 0, "le": distance >= 0, "gt": distance < 0, "ge": distance <= 0}
    holds |= {"eq": distance == 0, "ne": distance != 0}
    if not holds[relation]:
        return 0
    if step == 0:
        return None
    if relation == "eq":
        return 1
    if relation == "ne":
        return distance // step if distance % step == 0 and distance // step > 0 else None
    if (step > 0) != (relation in ("lt", "le")):
        return None
    whole, rest = divmod(abs(distance), abs(step))
    return whole + (rest > 0 if relation in ("lt", "gt") else 1)


def _signed(number: int, bits: int) -> int:
    """The number as a signed one of so many bits."""
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _as(number: int, compared: Type) -> int:
    return _signed(number, compared.bits) if compared.is_signed else number % (1 << compared.bits)
