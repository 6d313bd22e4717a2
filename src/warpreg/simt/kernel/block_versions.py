"""Versions of a block: one for accesses whose lanes are as expected, and one for all others.

Most accesses have all lanes active, side by side or at one address, in bounds: `lane_strides` guesses which.  Before
the first of them, a block examines all whose addresses are known by then.  If they are as expected, it goes on without
a call, so that it needs no stack frame and what it has computed stays in machine registers.  Otherwise it goes on with
a function that calls the memory operations.  If the accesses have a guard, and it holds for no lane, what it guards is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import Address, registers_of
from warpreg.simt.block import running
from warpreg.simt.block.block_values import Version
from warpreg.simt.llvm.emitter import Value

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body, Part


@dataclass(frozen=True)
class _Expected:
    """An access of which something is expected: its pc, the condition, and its guard."""

    pc: int
    condition: Value
    guard: Value | None


def divide(part: Part, body: Body, place: int) -> None:
    """Divide the block before an instruction, if it is the first access that may be as expected."""
    compiler, values = part.compiler, body.values
    recorded = compiler.sites.record or compiler.record.values or compiler.taints
    if recorded or values.version != Version() or part.first_pc + place not in compiler.sites.inline:
        return
    rest = part.block.instructions[place : part.end]
    if any(one.traits.is_service or {"red", "RED"} & set(one.modifiers) for one in rest):
        return  # its result has one function
    pcs = range(part.first_pc + place, part.first_pc + part.end)
    with compiler.sites.another_version(pcs):
        expected = list(_expected(body, rest, part.first_pc + place))
    if not expected:
        return
    holds = expected[0].condition
    for one in expected[1:]:
        holds = holds & one.condition
    guards = {id(one.guard.llvm): one.guard for one in expected if one.guard is not None}
    with body.code.if_(~holds, likely=False), values.aside():
        _otherwise(part, body, place, list(guards.values()), len(expected))
    values.version = Version(frozenset(one.pc for one in expected), dict.fromkeys(guards, True), is_full=True)


def _expected(body: Body, rest: tuple[Instruction, ...], first_pc: int) -> Iterator[_Expected]:
    """The accesses whose addresses and guards are known before the first instruction."""
    written: set[str] = set()
    for pc, instruction in enumerate(rest, first_pc):
        addresses = [one for one in instruction.operands if isinstance(one, Address)]
        needed = {register.name for address in addresses for register in registers_of(address)}
        if instruction.guard is not None:
            needed.add(instruction.guard.register.name)
        condition = body.likely(instruction, pc) if written.isdisjoint(needed) else None
        if condition is not None:
            yield _Expected(pc, condition, body.guard(instruction, pc))
        written.update(register.name for register in instruction.defined)


def _otherwise(part: Part, body: Body, place: int, guards: list[Value], count: int) -> None:
    """Go on where something is not as expected."""
    compiler, values = part.compiler, body.values
    rest = part.block.instructions[place : part.end]
    accesses = sum(memory_form(one) is not None or one.traits.accesses_elements for one in rest)
    if len(guards) == 1 and accesses == count:
        with body.code.if_(values.lanes(guards[0]) == 0), values.aside():
            values.version = Version(guards={id(guards[0].llvm): False})
            part.add(body, place)
    part.leave(body, place)
    name = f"{part.name(place)}_plain"
    body.code.jump(running.declared(compiler.module, name), body.code.arguments)
    body_of_rest = type(body)(compiler, running.function(compiler.module, name))
    body_of_rest.values.version = Version(is_plain=True)
    with compiler.sites.another_version(range(part.first_pc + place, part.first_pc + part.end)):
        part.define(body_of_rest, place)
