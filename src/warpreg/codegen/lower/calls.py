"""Parses the operands of ``call`` (PTX ISA, "Parallel Synchronization and Control Flow": ``call``)."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.ir.instruction import Instruction
from warpreg.ir.module import CallPrototype, Function, Variable
from warpreg.ir.operands import Arguments, Immediate, Label, Operand, Register, Sink, Symbol, Vector


@dataclass(frozen=True)
class Call:
    """``call (results), target, (arguments), table``.

    ``target`` is a function's name, or for an indirect call the operand that holds its address; ``table`` is the name
    of the ``.callprototype`` or ``.calltargets`` of an indirect call, empty without one.
    """

    target: str | Register | Immediate
    results: tuple[Operand, ...]
    arguments: tuple[Operand, ...]
    table: str = ""

    @staticmethod
    def read(instruction: Instruction) -> Call | None:
        """The parts; None for a call without a target."""
        position = next((i for i, o in enumerate(instruction.operands) if not isinstance(o, Arguments)), None)
        if position is None:
            return None
        operand = instruction.operands[position]
        before, after = instruction.operands[:position], instruction.operands[position + 1 :]
        lists = [o.elements for o in after if isinstance(o, Arguments)]
        tables = [o.name for o in after if isinstance(o, (Label, Symbol))]
        results, arguments = _elements(before), lists[0] if lists else ()
        if isinstance(operand, (Symbol, Label)):
            return Call(operand.name, results, arguments)
        if isinstance(operand, (Register, Immediate)):
            return Call(operand, results, arguments, tables[0] if tables else "")
        return None

    def fits(self, function: Function) -> bool:
        """Whether the call has as many arguments and results as the function, each of the shape of its parameter."""
        if len(self.results) != len(function.returns) or len(self.arguments) != len(function.parameters):
            return False
        return all(map(has_shape, self.results, function.returns)) and all(
            map(has_shape, self.arguments, function.parameters)
        )


def _elements(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    first = operands[0] if operands else None
    return first.elements if isinstance(first, Arguments) else ()


def has_shape(actual: Operand, formal: Variable) -> bool:
    """Whether an argument or result is one value, or a vector of as many elements of the same size, as its parameter.

    A ``.param`` variable has any shape.
    """
    if not isinstance(actual, Vector):
        return formal.vector == 1 or isinstance(actual, (Symbol, Sink))
    bits = {element.type.bits for element in actual.elements if isinstance(element, Register)}
    return len(actual.elements) == formal.vector and bits <= {max(16, formal.type.bits)}


def agree(prototype: CallPrototype | Function, function: Function) -> bool:
    """Whether a function's parameters and results have the sizes in bytes that a prototype declares."""
    declared, found = ((_sizes(signature.parameters), _sizes(signature.returns)) for signature in (prototype, function))
    return declared == found


def _sizes(variables: tuple[Variable, ...]) -> list[int]:
    return [variable.bytes for variable in variables]
