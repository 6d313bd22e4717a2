"""Flattens a function's nested statements to one list: scopes are resolved, calls are expanded.

A name that a nested scope or an inlined function redeclares gets a suffix ``$n``, so that names are unique in the list.
A called function is inlined; a recursive one becomes a `Routine`; an indirect call becomes a branch table over direct
ones; a host service becomes an instruction.  Any other call is left unchanged, and is an error when executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

from warpreg.codegen.lower.argument_copies import check_arguments, copies
from warpreg.codegen.lower.calls import Call
from warpreg.codegen.lower.frames import Routine
from warpreg.codegen.lower.functions import Functions, Table
from warpreg.codegen.lower.indirect_calls import dispatch, trap_invalid_target
from warpreg.codegen.lower.recursive_calls import call_of
from warpreg.codegen.lower.scopes import Scope, UniqueNames
from warpreg.codegen.lower.services import is_service, service
from warpreg.codegen.lower.stack import STACK, STACK_BASE, emit, is_stack_instruction, stack_instruction
from warpreg.codegen.machine.operand_rewriting import map_instruction
from warpreg.ir import module as syntax
from warpreg.ir.instruction import Guard, Instruction, registers_of
from warpreg.ir.operands import Immediate, Label, Operand, Register, Symbol, Vector
from warpreg.ir.types import TYPES

Flat = Instruction | syntax.LabelStatement


@dataclass
class FlatCode:
    """``items`` in order; ``variables``, branch ``tables`` and ``routines`` by their unique names; ``names`` generates
    further unique names; ``rolled`` are the labels before a pragma ``nounroll``; ``shared`` are the registers
    at module scope, which all functions share."""

    items: list[Flat] = field(default_factory=list)
    variables: dict[str, syntax.Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    names: UniqueNames = field(default_factory=UniqueNames)
    rolled: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)

    def instructions(self) -> Iterator[Instruction]:
        """The instructions of the kernel, then those of each routine."""
        for items in (self.items, *(routine.items for routine in self.routines.values())):
            yield from (item for item in items if isinstance(item, Instruction))


@dataclass
class _Activation:
    """The context of the code that is being flattened.

    ``items`` is the output list; ``returns`` are the labels that ``ret`` branches to, innermost last; ``routine`` is
    the routine whose own declarations are read, None inside a function inlined into it; ``frame`` is that routine in
    either case; ``group`` maps the functions of its group of mutual callers to their routines.
    """

    items: list[Flat]
    returns: list[str] = field(default_factory=list)
    routine: Routine | None = None
    frame: Routine | None = None
    number: int | None = None
    group: dict[str, Routine] = field(default_factory=dict)


def flatten(module: syntax.Module, function: syntax.Function) -> FlatCode:
    """The kernel ``function`` as one list of instructions and labels."""
    flattener = _Flattener(module, function)
    scope = Scope(flattener.outermost)
    for parameter in function.parameters:
        scope.bound[parameter.name] = flattener.variable(parameter)
    for variable in module.variables:
        flattener.outermost.bound[variable.name] = flattener.variable(variable)
    for declaration in module.registers:
        flattener.outermost.declare(declaration, flattener.names)
    flattener.statements(function.body or (), scope)
    result = flattener.result
    result.shared.update(r.name for bound in flattener.outermost.bound.values() for r in registers_of(bound))
    if flattener.uses_stack:
        start = Instruction("mov", ("u32",), (STACK, STACK_BASE), location=function.location)
        result.items.insert(0, start)
    return result


class _Flattener:
    """State global to one kernel: names in use, calls being inlined."""

    def __init__(self, module: syntax.Module, kernel: syntax.Function) -> None:
        self.functions = Functions(module)
        self.kernel = kernel
        self.result = FlatCode()
        self.names = self.result.names
        self.outermost = Scope()
        self.now = _Activation(self.result.items)
        self.statics: dict[int, Symbol] = {}
        self.uses_stack = False

    def variable(self, variable: syntax.Variable) -> Symbol:
        """A unique symbol; all inlined copies of a function share its static variables, but each routine has its own
        variables in its frame."""
        routine = self.now.routine if variable.space in ("param", "local") else None
        shared = routine is None and variable.space != "param"
        if shared and id(variable) in self.statics:
            return self.statics[id(variable)]
        symbol = Symbol(self.names.unique(variable.name))
        self.result.variables[symbol.name] = variable
        if routine:
            routine.frame[symbol.name] = variable
        return self.statics.setdefault(id(variable), symbol) if shared else symbol

    @cached_property
    def groups(self) -> dict[str, int]:
        return self.functions.groups(self.kernel)

    def fresh(self, name: str, kind: str) -> Register:
        return Register(self.names.register(name), TYPES[kind])

    def emit(self, items: Iterable[Flat]) -> None:
        self.now.items.extend(items)

    def statements(self, statements: tuple[syntax.Statement, ...], scope: Scope) -> None:
        """Append the flat form; labels and tables are bound first, since branches may go forward."""
        self._bind_labels(statements, scope)
        for statement in statements:
            if isinstance(statement, Instruction):
                self._instruction(statement, scope)
            elif isinstance(statement, syntax.LabelStatement):
                self.now.items.append(replace(statement, name=_label(scope, statement.name)))
            elif isinstance(statement, syntax.RegisterDeclaration):
                scope.declare(statement, self.names)
            elif isinstance(statement, syntax.Variable):
                scope.bound[statement.name] = self.variable(statement)
            elif isinstance(statement, syntax.Scope):
                self.statements(statement.statements, Scope(scope))
            elif statement == syntax.NOUNROLL:
                labels = takewhile(lambda item: isinstance(item, syntax.LabelStatement), reversed(self.now.items))
                self.result.rolled.update(item.name for item in labels if isinstance(item, syntax.LabelStatement))

    def _bind_labels(self, statements: Iterable[syntax.Statement], scope: Scope) -> None:
        tables = []
        for statement in statements:
            if isinstance(statement, syntax.CallPrototype) or (
                isinstance(statement, syntax.BranchTable) and statement.kind == "calltargets"
            ):
                scope.signatures[statement.name] = statement
            elif isinstance(statement, (syntax.LabelStatement, syntax.BranchTable)):
                scope.bound[statement.name] = Label(self.names.unique(statement.name))
                if isinstance(statement, syntax.BranchTable):
                    tables.append(statement)
        for table in tables:
            self.result.tables[_label(scope, table.name)] = tuple(_label(scope, t) for t in table.targets)

    def _instruction(self, instruction: Instruction, scope: Scope) -> None:
        if instruction.traits.is_call:
            self._call(instruction, scope)
            return
        renamed = map_instruction(instruction, lambda operand: self._meaning(operand, scope))
        if renamed.opcode == "ret" and self.now.returns:
            self.now.items.append(_jump(renamed, self.now.returns[-1], renamed.guard))
        elif is_stack_instruction(renamed):
            self.uses_stack = True
            if self.now.frame:
                self.now.frame.is_dynamic = True
            size = self.fresh("%bytes", "b64")
            self._under_guard(renamed, "stack", stack_instruction(renamed, size))
        else:
            self.now.items.append(renamed)

    def _under_guard(self, instruction: Instruction, name: str, body: Iterable[Flat]) -> None:
        """Emit ``body`` with a branch around it for threads in which the instruction's guard is false."""
        if instruction.guard:
            end = self.names.unique(f"{name}$end")
            opposite = Guard(instruction.guard.register, not instruction.guard.negated)
            self.emit([_jump(instruction, end, opposite)])
            self.emit(body)
            self.emit([syntax.LabelStatement(end, instruction.location)])
        else:
            self.emit(body)

    # Calls.

    def _call(self, instruction: Instruction, scope: Scope) -> None:
        written = Call.read(instruction)
        function = self.functions.by_name.get(written.target) if written and isinstance(written.target, str) else None
        renamed = map_instruction(instruction, lambda operand: self._meaning(operand, scope, keep_functions=True))
        call = Call.read(renamed)
        if call is None:
            self.emit([renamed])
        elif function:
            check_arguments(renamed, call, function, self.result.variables)
            self._call_function(renamed, call, function)
        elif isinstance(call.target, str):
            body = service(renamed, call, self.fresh) if is_service(call) else [renamed]
            self._under_guard(renamed, call.target, body)
        else:
            self._call_indirectly(renamed, call, scope.signature(call.table))

    def _call_function(self, instruction: Instruction, call: Call, function: syntax.Function) -> None:
        if not call.fits(function):
            self.emit([instruction])
        elif function.name in self.groups:
            self._call_routine(instruction, call, function)
        else:
            self._inline(instruction, call, function)

    def _call_indirectly(self, instruction: Instruction, call: Call, table: Table | None) -> None:
        """A branch table over the possible targets; lanes with the same target run together."""
        if isinstance(table, syntax.CallPrototype):
            check_arguments(instruction, call, table, self.result.variables)
        candidates = [f for f in self.functions.candidates(table) if call.fits(f)]
        if not candidates:
            self.emit([instruction])
            return
        end, otherwise, name = (self.names.unique(f"call${word}") for word in ("end", "otherwise", "targets"))
        labels = [self.names.unique(f"call${f.name}") for f in candidates]
        addresses = [self.functions.addresses[f.name] for f in candidates]
        code, self.result.tables[name] = dispatch(instruction, call, addresses, labels, otherwise, name, self.fresh)
        plain = replace(instruction, guard=None)
        if instruction.guard:
            opposite = Guard(instruction.guard.register, not instruction.guard.negated)
            self.emit([_jump(instruction, end, opposite)])
        self.emit(code)
        for function, label in zip(candidates, labels, strict=True):
            self.emit([syntax.LabelStatement(label, instruction.location)])
            self._call_function(plain, call, function)
            self.emit([_jump(instruction, end, None)])
        assert not isinstance(call.target, str)
        self.emit([syntax.LabelStatement(otherwise, instruction.location)])
        self.emit(trap_invalid_target(instruction, call.target, self.fresh("%address", "b64")))
        self.emit([syntax.LabelStatement(end, instruction.location)])

    def _call_routine(self, instruction: Instruction, call: Call, function: syntax.Function) -> None:
        """Call a routine of the current group, or lay out a group for this call."""
        self.uses_stack = True
        number = self.groups[function.name]
        group = self.now.group if self.now.number == number else {}
        routine = group.get(function.name) or self._routine(function, number, group)
        self._under_guard(instruction, function.name, [call_of(routine, instruction, call)])

    def _routine(self, function: syntax.Function, number: int, group: dict[str, Routine]) -> Routine:
        routine = group[function.name] = Routine(function, self.names.unique(function.name))
        self.result.routines[routine.label] = routine
        outer, end = self.now, self.names.unique(f"{function.name}$return")
        self.now = _Activation(routine.items, [end], routine, routine, number, group)
        scope = Scope(self.outermost)
        routine.results = [self._formal(routine, formal, scope) for formal in function.returns]
        routine.parameters = [self._formal(routine, formal, scope) for formal in function.parameters]
        self.statements(function.body or (), scope)
        self.emit([syntax.LabelStatement(end, function.location)])
        self.now = outer
        return routine

    def _formal(self, routine: Routine, formal: syntax.Variable, scope: Scope) -> str:
        """A variable of the frame for a parameter or result, bound to a register if it is declared as one."""
        symbol = Symbol(self.names.unique(formal.name))
        routine.frame[symbol.name] = self.result.variables[symbol.name] = formal
        scope.bound[formal.name] = symbol
        if formal.space == "reg":
            routine.registers[symbol.name] = scope.declare_formal(formal, self.names)
        return symbol.name

    def _inline(self, instruction: Instruction, call: Call, function: syntax.Function) -> None:
        end = self.names.unique(f"{function.name}$return")
        if instruction.guard:
            self.emit([_jump(instruction, end, Guard(instruction.guard.register, not instruction.guard.negated))])
        scope, routine, self.now.routine = Scope(self.outermost), self.now.routine, None
        for formal, actual in zip(function.parameters, call.arguments, strict=True):
            bound = self._bind(formal, actual, scope, is_shared=actual not in call.results)
            if bound is not actual:
                self.emit(copies(formal, bound, actual, instruction, self.fresh, into=True))
        returns = [self._bind(f, a, scope) for f, a in zip(function.returns, call.results, strict=True)]
        takes_stack = any(i.opcode == "alloca" for i in function.instructions())
        top = self.fresh("%top", "b32") if takes_stack else STACK
        if takes_stack:
            self.emit([emit(instruction, "mov.b32", top, STACK)])
        self.now.returns.append(end)
        self.statements(function.body or (), scope)
        self.now.returns.pop()
        self.now.routine = routine
        self.emit([syntax.LabelStatement(end, instruction.location)])
        if takes_stack:
            self.emit([replace(emit(instruction, "mov.b32", STACK, top), guard=instruction.guard)])
        for formal, bound, actual in zip(function.returns, returns, call.results, strict=True):
            if bound is not actual:
                self.emit(copies(formal, bound, actual, instruction, self.fresh, into=False))

    def _bind(
        self, formal: syntax.Variable, actual: Operand, scope: Scope, *, is_shared: bool = True
    ) -> Register | Vector | Symbol:
        """The operand that ``formal`` refers to inside: the caller's param variable if it can be shared, or new ones to
        copy into."""
        if formal.space == "reg":
            return scope.declare_formal(formal, self.names)
        bound = actual if isinstance(actual, Symbol) and is_shared else self.variable(formal)
        scope.bound[formal.name] = bound
        return bound

    def _meaning(self, operand: Operand, scope: Scope, *, keep_functions: bool = False) -> Operand:
        """The operand that a name refers to; a function name is its address, except as the target of a call."""
        if isinstance(operand, Register):
            meaning = scope.find(operand.name)
            return operand if meaning is None or meaning == operand else meaning
        if isinstance(operand, Symbol):
            meaning = scope.find(operand.name)
            if isinstance(meaning, Symbol):
                return operand if meaning.name == operand.name else Symbol(meaning.name, operand.offset)
            if meaning is None and not keep_functions and operand.name in self.functions.addresses:
                return Immediate(self.functions.addresses[operand.name] + operand.offset)
            return meaning or operand
        if isinstance(operand, Label):
            return scope.find(operand.name) or operand
        return operand


def _label(scope: Scope, name: str) -> str:
    found = scope.find(name)
    return found.name if isinstance(found, (Label, Symbol)) else name


def _jump(instruction: Instruction, label: str, guard: Guard | None) -> Instruction:
    return replace(instruction, opcode="bra", modifiers=(), operands=(Label(label),), guard=guard)
