"""Functions of a module: names, addresses, call graph, recursion.

The address of a function points to no memory: it is a base plus a stride times the position of the function in the
text.  Tables of function addresses therefore contain the same bytes in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from warpreg.codegen.lower.calls import Call, agree
from warpreg.ir.address_space import FUNCTION_BASE, FUNCTION_STRIDE
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import (
    AddressByte,
    BranchTable,
    CallPrototype,
    Function,
    GenericAddress,
    Initializer,
    Module,
    Scope,
    Statement,
)
from warpreg.ir.opcodes import tensor
from warpreg.ir.operands import Address, Operand, Symbol

Table = BranchTable | CallPrototype

MAX_INLINED = 20_000
"""Limit on the instructions that inlining adds to a kernel."""
SMALL = 100
"""Functions up to this number of instructions, calls included, are always inlined."""
ONE_GROUP = -1
MATRIX = frozenset(row.name for row in tensor.OPCODES)


def function_addresses(module: Module) -> dict[str, int]:
    """The address of every function with a body, and of its aliases."""
    bodies = {f.name: f for f in module.functions if f.body is not None and not f.is_kernel}
    addresses = {name: FUNCTION_BASE + i * FUNCTION_STRIDE for i, name in enumerate(bodies)}
    return addresses | {alias: addresses[name] for alias, name in _aliases(module) if name in addresses}


def _aliases(module: Module) -> Iterator[tuple[str, str]]:
    for item in module.items:
        if getattr(item, "name", "") == "alias":
            alias, name = getattr(item, "arguments", ("", ""))
            yield alias, name


@dataclass(frozen=True)
class Functions:
    """The functions of ``module`` that have a body."""

    module: Module

    @cached_property
    def by_name(self) -> dict[str, Function]:
        """Functions with a body by name and alias; kernels cannot be called."""
        found = {f.name: f for f in self.module.functions if f.body is not None and not f.is_kernel}
        return found | {alias: found[name] for alias, name in _aliases(self.module) if name in found}

    @cached_property
    def addresses(self) -> dict[str, int]:
        return function_addresses(self.module)

    @cached_property
    def addressed(self) -> tuple[Function, ...]:
        """Functions whose address is taken by an initialiser or an instruction, in the order of their addresses."""
        names = {name for v in self.module.variables for name in _initial_names(v.initializer)}
        for function in self.module.functions:
            for instruction in function.instructions():
                names.update(_taken_names(instruction))
        found = {self.by_name[name].name: self.by_name[name] for name in names if name in self.by_name}
        return tuple(sorted(found.values(), key=lambda f: self.addresses[f.name]))

    def candidates(self, table: Table | None) -> tuple[Function, ...]:
        """Possible callees of an indirect call: the targets of its table, or all functions with its prototype whose
        address is taken.
        """
        if isinstance(table, BranchTable):
            listed = {self.by_name[name].name: self.by_name[name] for name in table.targets if name in self.by_name}
            return tuple(sorted(listed.values(), key=lambda f: self.addresses[f.name]))
        return tuple(f for f in self.addressed if table is None or agree(table, f))

    def groups(self, kernel: Function) -> dict[str, int]:
        """By name of each function that is not inlined: the number of its group; a group is laid out together.

        These are recursive functions, with a group for those that call each other.  If inlining would make a kernel too
        long, all but the small functions form one group, except those that synchronize threads: lanes from different
        calls of a group do not wait for each other inside it.
        """
        cycles = self._cycles
        if self._inlined(kernel) <= MAX_INLINED:
            return cycles
        large = {n for n, size in self._sizes.items() if size > SMALL and n not in self._synchronizing}
        return dict.fromkeys(large | cycles.keys(), ONE_GROUP)

    @cached_property
    def _graph(self) -> dict[str, tuple[str, ...]]:
        """By function: its possible callees, once per call."""
        return {f.name: tuple(self._callees(f)) for f in self.by_name.values()}

    @cached_property
    def _components(self) -> list[list[str]]:
        return components(self._graph)

    @cached_property
    def _cycles(self) -> dict[str, int]:
        numbered = enumerate(self._components)
        return {n: i for i, c in numbered for n in c if len(c) > 1 or n in self._graph[n]}

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Instructions of each function with all calls inlined, except those of recursive functions."""
        sizes: dict[str, int] = {}
        for name in (name for component in self._components for name in component):
            own = sum(1 for _ in self.by_name[name].instructions())
            sizes[name] = own + sum(sizes.get(n, 0) for n in self._graph[name] if n not in self._cycles)
        return sizes

    def _inlined(self, kernel: Function) -> int:
        """Instructions that inlining adds to a kernel."""
        return sum(self._sizes[name] for name in self._callees(kernel) if name not in self._cycles)

    @cached_property
    def _synchronizing(self) -> frozenset[str]:
        """Functions that execute a barrier or a warp-wide instruction, or call one that does."""
        names: set[str] = set()
        for name in (name for component in self._components for name in component):
            waits = any(_synchronizes(i) for i in self.by_name[name].instructions())
            if waits or not names.isdisjoint(self._graph[name]):
                names.add(name)
        return frozenset(names)

    def _callees(self, function: Function) -> Iterator[str]:
        tables = dict(_tables(function.body or ()))
        for instruction in function.instructions():
            call = Call.read(instruction) if instruction.traits.is_call else None
            if call and isinstance(call.target, str):
                if call.target in self.by_name:
                    yield self.by_name[call.target].name
            elif call:
                yield from (f.name for f in self.candidates(tables.get(call.table)))


def _synchronizes(instruction: Instruction) -> bool:
    """Whether threads of a warp, or of a thread block, must take part together."""
    traits = instruction.traits
    return traits.is_barrier or traits.is_matrix or traits.is_warp_wide


def _tables(statements: tuple[Statement, ...]) -> Iterator[tuple[str, Table]]:
    for statement in statements:
        if isinstance(statement, (BranchTable, CallPrototype)):
            yield statement.name, statement
        elif isinstance(statement, Scope):
            yield from _tables(statement.statements)


def _initial_names(initializer: Initializer | None) -> Iterator[str]:
    if isinstance(initializer, Symbol):
        yield initializer.name
    elif isinstance(initializer, (GenericAddress, AddressByte)):
        yield from _initial_names(initializer.symbol)
    elif isinstance(initializer, tuple):
        for item in initializer:
            yield from _initial_names(item)


def _taken_names(instruction: Instruction) -> Iterator[str]:
    if not instruction.traits.is_call:
        for operand in instruction.operands:
            symbol: Operand = operand.base if isinstance(operand, Address) else operand
            if isinstance(symbol, Symbol):
                yield symbol.name


def components(graph: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """The strongly connected components, callees first (Tarjan, SIAM J. Comput. 1972, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result: list[list[str]] = []
    done: set[str] = set()
    for root in graph:
        path = [] if root in order else [(root, iter(graph[root]))]
        while path:
            node, callees = path[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
            callee = next(callees, None)
            if callee is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    result.append(stack[stack.index(node) :])
                    del stack[-len(result[-1]) :]
                    done.update(result[-1])
            elif callee not in order:
                path.append((callee, iter(graph[callee])))
            elif callee not in done:
                low[node] = min(low[node], order[callee])
    return result
