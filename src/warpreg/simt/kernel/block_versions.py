"""Versions of a block: one for accesses whose lanes are as expected, and one for all others.

Most accesses have all lanes active, side by side or at one address, in bounds: `lane_strides` guesses which.  Before
the first of them, a block examines all whose addresses are known by then.  If they are as expected, it goes on without
a call, so that it needs no stack frame and what it has computed stays in machine registers.  Otherwise it goes on with
a function that calls the memory operations.  If the accesses have a guard, and it holds for no lane, what it guards is
left out.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import Address, registers_of
from warpreg.simt.block import running
from warpreg.simt.block.block_values import MOST_DIVISIONS, Version
from warpreg.simt.block.native_records import Slot
from warpreg.simt.llvm.emitter import FULL, I32, Value
from warpreg.simt.memory.memory_instructions import Expectation

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body, Part


MOST_INSTRUCTIONS = 8
"""The most instructions for each such access: those of the rest of the block are compiled twice."""


def divide(part: Part, body: Body, place: int) -> None:
    """Divide the block before an instruction, if it is the first access of which something is expected."""
    compiler, values, pc = part.compiler, body.values, part.first_pc + place
    recorded = compiler.sites.record or compiler.record.values or compiler.taints
    if recorded or values.version.is_last or pc in values.version.expected or pc not in compiler.sites.inline:
        return
    rest = part.block.instructions[place : part.end]
    if any(one.traits.is_service or {"red", "RED"} & set(one.modifiers) for one in rest):
        return  # its result has one function
    with compiler.sites.another_version(range(pc, part.first_pc + part.end)):
        expected = list(_expected(body, rest, pc))
    if len(rest) > MOST_INSTRUCTIONS * len(expected):
        return
    _leave_out_idle(part, body, place, expected)
    met = _are_met(body, [one for one, _ in expected])
    for condition in ([values.field(Slot.IN_ROWS) != 0] if any(one.needs_rows for one, _ in expected) else []) + [met]:
        with body.code.if_(~condition, likely=False), values.aside():
            _leave(part, body, place)
    values.version = values.version.expecting(one.pc for one, _ in expected)


def _expected(body: Body, rest: tuple[Instruction, ...], first_pc: int) -> Iterator[tuple[Expectation, Value | None]]:
    """What is expected of the accesses whose addresses and guards are known before the first instruction; with their
    guards."""
    written: set[str] = set()
    for pc, instruction in enumerate(rest, first_pc):
        addresses = [one for one in instruction.operands if isinstance(one, Address)]
        needed = {register.name for address in addresses for register in registers_of(address)}
        if instruction.guard is not None:
            needed.add(instruction.guard.register.name)
        is_known = written.isdisjoint(needed) and pc not in body.values.version.expected
        expectation = body.expectation(instruction, pc) if is_known else None
        if expectation is not None:
            yield expectation, body.guard(instruction, pc)
        written.update(register.name for register in instruction.defined)


def _are_met(body: Body, expected: list[Expectation]) -> Value:
    """Whether all expectations are met."""
    differing: dict[str, dict[int, Value]] = {}
    for one in expected:
        differing.setdefault(str(one.differs.type), {})[id(one.differs.llvm)] = one.differs
    conditions = [one.sound for one in expected]
    for vectors in differing.values():
        any_of_them = functools.reduce(operator.or_, vectors.values())
        conditions.append((any_of_them != 0).bitcast(I32) == 0)
    conditions += [one.whole == FULL for one in expected if one.whole is not None]
    return functools.reduce(operator.and_, conditions)


def _leave_out_idle(part: Part, body: Body, place: int, expected: list[tuple[Expectation, Value | None]]) -> None:
    """If all accesses of the rest have the same guard, and it holds for no lane, go on without what it guards."""
    values, guards = body.values, {id(guard.llvm): guard for _, guard in expected if guard is not None}
    rest = part.block.instructions[place : part.end]
    accesses = sum(memory_form(one) is not None or one.traits.accesses_elements for one in rest)
    if len(guards) != 1 or values.version.divisions or any(guard is None for _, guard in expected):
        return
    (guard,) = guards.values()
    if accesses == len(expected):
        with body.code.if_(values.lanes(guard) == 0), values.aside():
            values.version = Version(idle_guard=guard, divisions=MOST_DIVISIONS)
            part.add(body, place)


def _leave(part: Part, body: Body, place: int) -> None:
    """Go on with the function that calls the memory operations."""
    compiler, name = part.compiler, f"{part.name(place)}_plain"
    part.leave(body, place)
    body.code.jump(running.declared(compiler.module, name), body.code.arguments)
    if name not in part.plain:
        part.plain.add(name)
        rest = type(body)(compiler, running.function(compiler.module, name))
        rest.values.version = Version(is_plain=True, divisions=MOST_DIVISIONS)
        with compiler.sites.another_version(range(part.first_pc + place, part.first_pc + part.end)):
            part.define(rest, place)
