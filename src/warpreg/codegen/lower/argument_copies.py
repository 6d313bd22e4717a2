"""Copies between the arguments of a call and the parameters of the function (PTX ISA, "call").

Both are registers, vectors of two or four registers, or ``.param`` variables; an argument may be a constant.  Vectors
are passed element by element.  Argument and parameter have the same shape: one value, or a vector of as many elements
of the same size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from warpreg.codegen.lower.calls import Call, has_shape
from warpreg.codegen.lower.frames import Fresh
from warpreg.codegen.lower.stack import emit
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.module import CallPrototype, Function, Variable
from warpreg.ir.opcodes import flattened, is_allowed
from warpreg.ir.operands import Address, Operand, Sink, Symbol
from warpreg.ir.types import Type


def check_arguments(
    instruction: Instruction, call: Call, signature: Function | CallPrototype, variables: Mapping[str, Variable]
) -> None:
    """Raise UnsupportedError, with the place, for an argument or result that has not the shape of its parameter, or
    names a variable that is not in ``.param`` space.  ``variables`` are those of the kernel."""
    for formal, actual in zip(signature.returns, call.results, strict=False):
        _check(instruction, formal, actual, f"writes '{formal.name}' of '{signature.name}' to '{actual}'", variables)
    for formal, actual in zip(signature.parameters, call.arguments, strict=False):
        _check(instruction, formal, actual, f"passes '{actual}' as '{formal.name}' of '{signature.name}'", variables)


def _check(
    instruction: Instruction, formal: Variable, actual: Operand, what: str, variables: Mapping[str, Variable]
) -> None:
    found = variables.get(actual.name) if isinstance(actual, Symbol) else None
    if found and found.space != "param":
        reason = f"{what}, expected a register, a constant or a .param variable"
    elif not has_shape(actual, formal):
        reason = f"{what}, expected {_shape(formal)}"
    else:
        return
    raise UnsupportedError(f"'{instruction}'", instruction.location, reason)


def _shape(formal: Variable) -> str:
    return f"a vector of {formal.vector} .{formal.type}" if formal.vector > 1 else f"one .{formal.type}"


def copies(
    formal: Variable, bound: Operand, actual: Operand, call: Instruction, fresh: Fresh, *, into: bool
) -> Iterator[Instruction]:
    """The copy of an argument ``into`` the parameter that ``bound`` holds, or of a result back to ``actual``.

    Results are copied under the guard of the call; arguments always, because the parameters are new.
    """
    guard = None if into else call.guard
    target, source = (bound, actual) if into else (actual, bound)
    if isinstance(target, Symbol) and isinstance(source, Symbol):
        yield from _between_variables(formal, target, source, call, fresh)
    elif isinstance(target, Symbol):
        yield _access(formal, call, guard, "st", (Address(target), source))
    elif isinstance(source, Symbol):
        yield _access(formal, call, guard, "ld", (target, Address(source)))
    else:
        for to, value in zip(flattened((target,)), flattened((source,)), strict=True):
            if not isinstance(to, Sink):
                yield _move(formal.type, to, value, call, guard)


def _between_variables(
    formal: Variable, target: Symbol, source: Symbol, call: Instruction, fresh: Fresh
) -> Iterator[Instruction]:
    together = formal.bytes | formal.natural_alignment | 8
    step = together & -together
    for place in range(0, formal.bytes, step):
        piece = fresh("%piece", f"b{max(16, 8 * step)}")
        yield emit(call, f"ld.param.b{8 * step}", piece, Address(source, place))
        yield emit(call, f"st.param.b{8 * step}", Address(target, place), piece)


def _access(
    formal: Variable, call: Instruction, guard: Guard | None, opcode: str, operands: tuple[Operand, ...]
) -> Instruction:
    vector = (f"v{formal.vector}",) if formal.vector > 1 else ()
    plain, bits = (("param", *vector, kind) for kind in (formal.type.name, f"b{formal.type.bits}"))
    modifiers = plain if is_allowed(opcode, plain) else bits
    return replace(call, opcode=opcode, modifiers=modifiers, operands=operands, guard=guard)


def _move(kind: Type, to: Operand, value: Operand, call: Instruction, guard: Guard | None) -> Instruction:
    name = kind.name if is_allowed("mov", (kind.name,)) else f"b{max(16, kind.bits)}"
    return replace(call, opcode="mov", modifiers=(name,), operands=(to, value), guard=guard)
