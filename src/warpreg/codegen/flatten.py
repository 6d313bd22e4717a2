"""From a function's nested statements to one straight list: scopes resolved, device functions inlined.

A name that a nested scope or an inlined function declares again gets a suffix ``$n``, so that in the list every name
means one thing.  A call to a function without a body, or one that would recurse, stays as it is; running it is an
error then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from warpreg.codegen.operands import map_instruction
from warpreg.codegen.scopes import Scope, UniqueNames
from warpreg.ir import module as syntax
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import Address, Arguments, Label, Operand, Register, Symbol

Flat = Instruction | syntax.LabelStatement


@dataclass
class Flattened:
    """``items`` in order; ``variables`` and branch ``tables`` by their unique names."""

    items: list[Flat] = field(default_factory=list)
    variables: dict[str, syntax.Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Call:
    """A call sequence's parts: ``call (results), target, (arguments)``."""

    target: str
    results: tuple[Operand, ...]
    arguments: tuple[Operand, ...]

    @staticmethod
    def read(instruction: Instruction) -> _Call | None:
        """The parts, or None where the target is a register."""
        names = [o.name for o in instruction.operands if isinstance(o, (Symbol, Label))]
        if not names:
            return None
        position = next(i for i, o in enumerate(instruction.operands) if isinstance(o, (Symbol, Label)))
        before, after = instruction.operands[:position], instruction.operands[position + 1 :]
        return _Call(names[0], _elements(before), _elements(after))

    def fits(self, function: syntax.Function) -> bool:
        return len(self.results) == len(function.returns) and len(self.arguments) == len(function.parameters)


def _elements(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    first = operands[0] if operands else None
    return first.elements if isinstance(first, Arguments) else ()


def flatten(module: syntax.Module, function: syntax.Function) -> Flattened:
    """The kernel ``function`` as one list of instructions and labels."""
    flattener = _Flattener(module)
    scope = Scope(flattener.outermost)
    for parameter in function.parameters:
        scope.bound[parameter.name] = flattener.variable(parameter)
    for variable in module.variables:
        flattener.outermost.bound[variable.name] = flattener.variable(variable)
    flattener.statements(function.body or (), scope)
    return flattener.result


class _Flattener:
    """Holds what is global to one kernel: the list so far, names in use, calls being inlined."""

    def __init__(self, module: syntax.Module) -> None:
        self.functions = {f.name: f for f in module.functions if f.body is not None}
        self.result = Flattened()
        self.names = UniqueNames()
        self.outermost = Scope()
        self.inlining: list[tuple[str, str]] = []
        self.statics: dict[int, Symbol] = {}

    def variable(self, variable: syntax.Variable) -> Symbol:
        """A unique symbol; a static variable is one however often its function is inlined."""
        if variable.space != "param" and id(variable) in self.statics:
            return self.statics[id(variable)]
        symbol = Symbol(self.names.unique(variable.name))
        self.result.variables[symbol.name] = variable
        return self.statics.setdefault(id(variable), symbol) if variable.space != "param" else symbol

    def statements(self, statements: tuple[syntax.Statement, ...], scope: Scope) -> None:
        """Append the flat form; labels and tables are bound first, since branches may go forward."""
        self._bind_labels(statements, scope)
        for statement in statements:
            if isinstance(statement, Instruction):
                self._instruction(statement, scope)
            elif isinstance(statement, syntax.LabelStatement):
                self.result.items.append(replace(statement, name=_label(scope, statement.name)))
            elif isinstance(statement, syntax.RegisterDeclaration):
                scope.declare(statement, self.names)
            elif isinstance(statement, syntax.Variable):
                scope.bound[statement.name] = self.variable(statement)
            elif isinstance(statement, syntax.Scope):
                self.statements(statement.statements, Scope(scope))

    def _bind_labels(self, statements: Iterable[syntax.Statement], scope: Scope) -> None:
        tables = []
        for statement in statements:
            if isinstance(statement, (syntax.LabelStatement, syntax.BranchTable)):
                scope.bound[statement.name] = Label(self.names.unique(statement.name))
            if isinstance(statement, syntax.BranchTable):
                tables.append(statement)
        for table in tables:
            self.result.tables[_label(scope, table.name)] = tuple(_label(scope, t) for t in table.targets)

    def _instruction(self, instruction: Instruction, scope: Scope) -> None:
        renamed = map_instruction(instruction, lambda operand: _meaning(operand, scope))
        call = _Call.read(renamed) if renamed.opcode == "call" else None
        function = self.functions.get(call.target) if call else None
        if call and function and call.fits(function) and all(name != call.target for name, _ in self.inlining):
            self._inline(renamed, call, function)
        elif renamed.opcode == "ret" and self.inlining:
            self.result.items.append(_jump(renamed, self.inlining[-1][1], renamed.guard))
        else:
            self.result.items.append(renamed)

    def _inline(self, instruction: Instruction, call: _Call, function: syntax.Function) -> None:
        end = self.names.unique(f"{function.name}$return")
        items = self.result.items
        if instruction.guard:
            items.append(_jump(instruction, end, Guard(instruction.guard.register, not instruction.guard.negated)))
        scope = Scope(self.outermost)
        for formal, actual in zip(function.parameters, call.arguments, strict=True):
            bound = self._bind(formal, actual, scope)
            if bound is not actual:
                items.append(_transfer(formal, bound, actual, instruction, into=True))
        returns = [self._bind(f, a, scope) for f, a in zip(function.returns, call.results, strict=True)]
        self.inlining.append((function.name, end))
        self.statements(function.body or (), scope)
        self.inlining.pop()
        items.append(syntax.LabelStatement(end, instruction.location))
        for formal, bound, actual in zip(function.returns, returns, call.results, strict=True):
            if bound is not actual:
                items.append(_transfer(formal, bound, actual, instruction, into=False))

    def _bind(self, formal: syntax.Variable, actual: Operand, scope: Scope) -> Operand:
        """What ``formal`` means inside: the caller's own param variable, or something new to copy into."""
        bound: Operand
        if formal.space == "reg":
            bound = Register(self.names.unique(formal.name), formal.type)
        else:
            bound = actual if isinstance(actual, Symbol) else self.variable(formal)
        scope.bound[formal.name] = bound
        return bound


def _label(scope: Scope, name: str) -> str:
    found = scope.find(name)
    return found.name if isinstance(found, (Label, Symbol)) else name


def _meaning(operand: Operand, scope: Scope) -> Operand:
    if isinstance(operand, Register):
        found = scope.find(operand.name)
        return operand if found is None or found == operand else found
    if isinstance(operand, Symbol):
        found = scope.find(operand.name)
        if isinstance(found, Symbol):
            return operand if found.name == operand.name else Symbol(found.name, operand.offset)
        return found or operand
    if isinstance(operand, Label):
        return scope.find(operand.name) or operand
    return operand


def _jump(instruction: Instruction, label: str, guard: Guard | None) -> Instruction:
    return replace(instruction, opcode="bra", modifiers=(), operands=(Label(label),), guard=guard)


def _transfer(
    formal: syntax.Variable, bound: Operand, actual: Operand, call: Instruction, *, into: bool
) -> Instruction:
    """The copy between an actual register or constant and the formal parameter or return value."""
    kind = formal.type.name
    guard = None if into else call.guard
    place = Address(bound) if isinstance(bound, Symbol) else bound
    operands: tuple[Operand, ...] = (place, actual) if into else (actual, place)
    if not isinstance(bound, Symbol):
        return replace(call, opcode="mov", modifiers=(kind,), operands=operands, guard=guard)
    return replace(call, opcode="st" if into else "ld", modifiers=("param", kind), operands=operands, guard=guard)
