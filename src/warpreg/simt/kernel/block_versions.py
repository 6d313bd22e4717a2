"""Versions of a block: one for accesses whose lanes are as expected, and one for all others.

Most accesses have many lanes, side by side or at one address, in bounds: `lane_strides` guesses which.  Before the
first of them, a block examines all whose addresses are known by then.  If they are as expected, it goes on without a
call, so that it needs no stack frame and what it has computed stays in machine registers.  Otherwise another function
executes the block from its beginning and calls the memory operations: in registers in memory, only active lanes have
addresses.  If all accesses have the same guard, and it holds for no lane, what it guards is left out.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import Address, registers_of
from warpreg.simt.block import running
from warpreg.simt.block.address_groups import SteppingGroup
from warpreg.simt.block.block_values import Version
from warpreg.simt.block.native_records import Slot
from warpreg.simt.kernel.block_loop import is_arithmetic
from warpreg.simt.llvm.emitter import I1, I32, I64, Value
from warpreg.simt.memory.memory_instructions import Expectation, expects

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body, Part

MOST_INSTRUCTIONS = 8
"""The most instructions for each such access: those of the rest of the block are compiled twice."""


def divide(part: Part, body: Body, start: int, place: int) -> None:
    """Divide the block before an access, if something is expected of enough accesses, and only arithmetic comes before;
    the function begins with the instruction at ``start``."""
    compiler, pc = part.compiler, part.first_pc + place
    if pc not in compiler.sites.inline or body.values.version.is_divided:
        return
    if compiler.record.values or compiler.taints or not is_arithmetic(part.block.instructions[start:place]):
        return
    if compiler.ends.ends[part.block.index].resumes:
        return  # the function that takes its result is defined once
    known = [*_known(part, place)]
    if part.end - place > MOST_INSTRUCTIONS * len(known):
        return
    with compiler.sites.another_version(part.pcs(place)):
        expected = tuple(body.expectation(part.block.instructions[one], part.first_pc + one) for one in known)
    _Division(part, body, start, place, expected).add()


def _known(part: Part, start: int) -> Iterator[int]:
    """The places of accesses of which something is expected, whose addresses and guards are known before ``start``."""
    written: set[str] = set()
    for place in range(start, part.end):
        instruction, pc = part.block.instructions[place], part.first_pc + place
        if expects(part.compiler.sites.inline.get(pc), instruction):
            needed = {r.name for one in instruction.operands if isinstance(one, Address) for r in registers_of(one)}
            if instruction.guard is not None:
                needed.add(instruction.guard.register.name)
            if written.isdisjoint(needed):
                yield place
        written.update(register.name for register in instruction.defined)


@dataclass(frozen=True)
class _Division:
    """The division of a function before an instruction, in which ``expected`` are some of the accesses that follow."""

    part: Part
    body: Body
    start: int
    place: int
    expected: tuple[Expectation, ...]

    def add(self) -> None:
        """Go on with the version in which all is as expected, and leave for others."""
        code, values, groups = self.body.code, self.body.values, self._groups
        self._leave_out_idle()
        if any(one.in_global_memory and one.stride for one in self.expected):
            self._unless(values.field(Slot.IN_ROWS) != 0, code.const(I1, 0))
        met = self._are_met()
        steps = [(*group.in_step(), members) for group, members in groups]
        in_step = [goes_on & (one.mask != 0) for goes_on, _, (one, *_) in steps]
        self._unless(functools.reduce(operator.and_, in_step, met), met)
        for group, _ in groups:
            group.advance()
        words: dict[int, Value | None] = dict.fromkeys(one.pc for one in self.expected)
        words |= {one.pc: word for _, word, members in steps for one in members}
        values.version = Version(words)

    def _are_met(self) -> Value:
        """Whether all expectations are met."""
        differing: dict[str, dict[int, Value]] = {}
        for one in self.expected:
            differing.setdefault(str(one.lanes.differs.type), {})[id(one.lanes.differs.llvm)] = one.lanes.differs
        conditions = [one.sound for one in self.expected]
        for vectors in differing.values():
            together = functools.reduce(operator.or_, vectors.values())
            conditions.append((together != 0).bitcast(I32) == 0)
        return functools.reduce(operator.and_, conditions)

    @functools.cached_property
    def _groups(self) -> list[tuple[SteppingGroup, list[Expectation]]]:
        """Accesses that append the same word to recorded addresses, if these are recorded."""
        alike: dict[tuple[int, int], list[Expectation]] = {}
        for one in self.expected if self.part.compiler.sites.record else ():
            alike.setdefault((id(one.lanes.base.llvm), id(one.mask.llvm)), []).append(one)
        return [(_group(members), members) for members in alike.values()]

    def _leave_out_idle(self) -> None:
        """If all accesses of the rest have the same guard, and it holds for no lane, go on without what it guards."""
        part, values, guard = self.part, self.body.values, self.expected[0].guard
        if part.compiler.sites.record and part.compiler.is_cooperative:
            return  # the first record of each thread block depends on no other
        rest = part.block.instructions[self.place : part.end]
        accesses = sum(memory_form(one) is not None or one.traits.accesses_elements for one in rest)
        are_alike = guard is not None and all(one.guard and one.guard.llvm is guard.llvm for one in self.expected)
        if guard is None or not are_alike or accesses > len(self.expected):
            return
        sites, pcs = part.compiler.sites, part.pcs(self.place)
        with self.body.code.if_(values.lanes(guard) == 0), values.aside(), sites.another_version(pcs):
            values.version = Version(idle_guard=guard)
            part.add(self.body, self.place)

    def _unless(self, condition: Value, is_expected: Value) -> None:
        """Go on with the function that calls the memory operations, unless a condition holds."""
        part, body = self.part, self.body
        compiler, name = part.compiler, f"{part.name(self.start)}_plain"
        with body.code.if_(~condition, likely=False), body.values.aside():
            for group, (first, *_) in self._groups:
                group.leave(is_expected & (first.mask != 0))  # a record without lanes keeps its old base
            body.code.jump(running.declared(compiler.module, name), body.code.arguments)
        if name not in part.plain:
            part.plain.add(name)
            rest = type(body)(compiler, running.function(compiler.module, name))
            rest.values.version = Version(is_plain=True)
            with compiler.sites.another_version(part.pcs(self.start)):
                part.define(rest, self.start)


def _group(members: list[Expectation]) -> SteppingGroup:
    first, places = members[0], tuple((one.place.site, one.place.offset) for one in members)
    base = first.lanes.base
    return SteppingGroup(places[0][0], base.zext(I64), first.stride, base.type == I32, places)
