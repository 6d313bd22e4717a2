"""Puts checks into the code of one function: each expression that may go wrong is handed to a guard.

    state.tag[warp, set]        state.tag[at(3, INDEX, state.tag, 0, warp), at(3, INDEX, state.tag, 1, set)]
    a // b                      a // nonzero(4, DIVISOR, b)
    read(plan, operand, RFC)    read(plan, source(5, operand), source_level(5, require(5, LEVEL, RFC, 0, 1)))
    while test:                 while turn(6, LOOP) and test:

The first numbers are sites.  Constants that cannot be wrong are left alone.  What cannot be checked is an error.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Iterable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from piecewise_numba.guards import LAST_SHIFT, at, fail, nonzero, only, plain, require, sized
from piecewise_numba.natives import Function
from warpreg.designs.checking.guards import bounded, item, item_2, turn
from warpreg.designs.checking.kinds import Kind
from warpreg.designs.checking.ranges import ARGUMENTS, DEFAULTS, GUARDS, PLACES, level_alone, own_level_alone
from warpreg.designs.checking.sites import Sites
from warpreg.designs.checking.sources import definition, remade
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import loads, own_memory, paths, plan_functions, turns
from warpreg.designs.interface.plan import ARRAYS

PLAN_MODULES: Mapping[str, ModuleType] = {
    one.__name__: one for one in (plan_functions, loads, paths, own_memory, turns)
}
"""Modules of plan functions."""
INTERNAL = frozenset({*ARRAYS, "detailed", "recall", "turn", "queued", "woken"})
"""Fields of a plan that its functions keep."""
DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
SHIFTS = (ast.LShift, ast.RShift)
DIVIDING = (
    divmod, np.floor_divide, np.mod, np.remainder, np.divide, np.fmod, operator.floordiv, operator.mod,
    operator.truediv,
)  # fmt: skip
SHIFTING = (np.left_shift, np.right_shift, operator.lshift, operator.rshift)
HIDDEN = (operator.getitem, operator.setitem)
PREFIX = "_check_"
FUNCTIONS: Mapping[str, Function] = {one.__name__: one for one in (item, item_2, bounded, turn)}
"""Guards that are functions, compiled once for each type of their arguments."""
NATIVE: Mapping[str, Function] = {one.__name__: one for one in (fail, require, at, only, sized, nonzero, plain)}
GUARD_OF: Mapping[str, Function] = {**NATIVE, **FUNCTIONS, **GUARDS}
"""What a name with the prefix stands for."""
ALONE: Mapping[str, Function] = {"source_level": level_alone, "own_source_level": own_level_alone}
"""In place of these in a design that merges no operands."""


class Rewriter(ast.NodeTransformer):
    """Rewrites one function.  ``guards`` are used by name; ``sites`` gets the places.  Raises DesignError."""

    def __init__(self, function: FunctionType, sites: Sites, ranges: Mapping[str, tuple[Kind, int, int]]) -> None:
        self._function = function
        self._file = function.__code__.co_filename
        self._locals = _local_names(function.__code__)
        self._sites = sites
        self._ranges = ranges
        self._temporaries = 0
        self.used: set[str] = set()
        self.planned: set[str] = set()
        self.calls: list[tuple[FunctionType, int]] = []

    def rewritten(self) -> FunctionType:
        """The function with checks."""
        tree = definition(self._function)
        tree.body = [self.visit(statement) for statement in tree.body]
        tree.body = _flat(tree.body)
        return remade(self._function, tree)

    # Elements of arrays.

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """An element that is read; `_stored` has those that are written."""
        site = self._site(node)
        container = self.visit(node.value)
        if _is_chain(node.value) or isinstance(node.slice, ast.Constant):
            return self._element(site, container, node.slice, ast.Load(), node)
        indices = [self.visit(one) for one in _elements(node.slice)]
        if len(indices) > 2 or any(isinstance(one, ast.Slice) for one in indices):
            raise self._refused(node, "an index into an expression cannot be checked; name the array first")
        name = "item" if len(indices) == 1 else "item_2"
        return self._guard(name, site, Kind.INDEX, node, container, *indices)

    def _element(
        self, site: int, container: ast.expr, index: ast.expr, context: ast.expr_context, node: ast.expr
    ) -> Any:
        """The element at a checked index; the container is named more than once."""
        constant = _constant(index)
        if constant is not None:
            container = self._guard("sized", site, Kind.INDEX, node, container, _number(constant))
            return _at(node, ast.Subscript(container, index, context))
        if not isinstance(index, ast.Tuple):
            return _at(node, ast.Subscript(container, self._index(site, container, None, index), context))
        axes = [self._index(site, container, axis, one) for axis, one in enumerate(index.elts)]
        return _at(node, ast.Subscript(container, _at(index, ast.Tuple(axes, ast.Load())), context))

    def _index(self, site: int, container: ast.expr, axis: int | None, index: ast.expr) -> Any:
        if isinstance(index, ast.Slice):
            return self.visit(index)
        constant = _constant(index)
        if constant is not None and constant < 0:
            extent = ast.Subscript(ast.Attribute(container, "shape", ast.Load()), _number(axis or 0), ast.Load())
            index = _at(index, ast.BinOp(extent, ast.Add(), index))
            return self._guard("at", site, Kind.INDEX, index, container, _number(axis or 0), index)
        if constant is None and isinstance(index, ast.Constant):
            raise self._refused(index, f"the index {ast.unparse(index)} cannot be checked")
        if axis is None:
            return self._guard("only", site, Kind.INDEX, index, container, self.visit(index))
        return self._guard("at", site, Kind.INDEX, index, container, _number(axis), self.visit(index))

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Targets that are elements are written one by one."""
        if not any(isinstance(one, (ast.Subscript, ast.Tuple, ast.List)) for one in node.targets):
            return self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if _is_chain(target.value):
                node.value = self.visit(node.value)
                node.targets = [self._target(target)]
                return node
        before, value = self._named(self.visit(node.value), node)
        return [before, *_flat(self._stored(target, value, node) for target in node.targets)]

    def _stored(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        """Statements that write a value to a target of any form."""
        if isinstance(target, (ast.Tuple, ast.List)):
            names = [self._name() for _ in target.elts]
            parts = _at(node, ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store()))
            taken = [
                self._stored(one, ast.Name(name, ast.Load()), node)
                for one, name in zip(target.elts, names, strict=True)
            ]
            return [_at(node, ast.Assign([parts], value)), *(one for statements in taken for one in statements)]
        if not isinstance(target, ast.Subscript):
            return [_at(node, ast.Assign([target], value))]
        before: list[ast.stmt] = []
        if not _is_chain(target.value):
            first, target.value = self._named(self.visit(target.value), node)
            before.append(first)
        return [*before, _at(node, ast.Assign([self._target(target)], value))]

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Only functions that run before a kernel delete anything; compiled ones cannot."""
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """The target, and the operation."""
        value = self.visit(node.value)
        before: list[ast.stmt] = []
        if isinstance(node.target, ast.Subscript):
            if not _is_chain(node.target.value):
                first, node.target.value = self._named(self.visit(node.target.value), node)
                before.append(first)
            node.target = self._target(node.target)
        node.value = self._operand(node.op, value, node)
        return [*before, node]

    def _target(self, target: ast.Subscript) -> Any:
        root = target.value
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name) and root.id == "program" and "program" in self._locals:
            raise self._refused(target, f"{ast.unparse(target)} is part of the program table, which hooks only read")
        container = self.visit(target.value)
        return self._element(self._site(target), container, target.slice, ast.Store(), target)

    def _named(self, value: ast.expr, node: ast.stmt) -> tuple[ast.stmt, ast.expr]:
        """A statement that gives the value a name, and the name."""
        name = self._name()
        return _at(node, ast.Assign([ast.Name(name, ast.Store())], value)), _at(node, ast.Name(name, ast.Load()))

    def _name(self) -> str:
        self._temporaries += 1
        return f"_check_value_{self._temporaries}"

    # Arithmetic.

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Divisions and shifts."""
        left, right = self.visit(node.left), self.visit(node.right)
        return _at(node, ast.BinOp(left, node.op, self._operand(node.op, right, node)))

    def _operand(self, op: ast.operator, right: ast.expr, node: ast.expr | ast.stmt) -> Any:
        constant = _constant(right)
        if isinstance(op, DIVISIONS) and not constant:
            return self._guard("nonzero", self._site(node), Kind.DIVISOR, right, right)
        if isinstance(op, SHIFTS) and (constant is None or not 0 <= constant <= LAST_SHIFT):
            return self._shifting(self._site(node), right)
        return right

    def _shifting(self, site: int, bits: ast.expr) -> Any:
        return self._guard("require", site, Kind.SHIFT, bits, bits, _number(0), _number(LAST_SHIFT))

    # Loops.

    def visit_While(self, node: ast.While) -> Any:
        """Count its steps."""
        site = self._sites.add(self._file, node, f"while {ast.unparse(node.test)}")
        step = self._guard("turn", site, Kind.LOOP, node.test)
        self.generic_visit(node)
        node.test = _at(node.test, ast.BoolOp(ast.And(), [step, node.test]))
        return node

    def visit_For(self, node: ast.For) -> Any:
        """Count the steps of one over a range."""
        if not isinstance(node.target, (ast.Name, ast.Tuple)):
            raise self._refused(node.target, "a loop over this target cannot be checked; use a name")
        steps = node.iter
        site = self._sites.add(self._file, node, f"for {ast.unparse(node.target)} in {ast.unparse(steps)}")
        self.generic_visit(node)
        if isinstance(steps, ast.Call) and self._resolved(steps.func) is range:
            node.iter = self._guard("bounded", site, Kind.LOOP, steps, node.iter)
        return node

    # Calls and names.

    def visit_Call(self, node: ast.Call) -> Any:
        """Plan functions, and functions that divide."""
        called = self._resolved(node.func)
        if _is_plan_function(called):
            return self._planned(node, called)
        self._check_called(node, called)
        site = self._site(node) if _among(called, (*DIVIDING, *SHIFTING)) else 0
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        node.func = self.visit(node.func)
        if site and len(node.args) > 1:
            right = node.args[1]
            is_shift = _among(called, SHIFTING)
            shifted = self._shifting(site, right) if is_shift else None
            node.args[1] = shifted or self._guard("nonzero", site, Kind.DIVISOR, node, right)
        return node

    def _check_called(self, node: ast.Call, called: Any) -> None:
        if _among(called, HIDDEN):
            raise self._refused(node, "write an index in brackets, so that it can be checked")
        module = getattr(called, "__module__", None) or ""
        if called is not None and str(module).partition(".")[0] in ("numba", "llvmlite", "ctypes"):
            raise self._refused(node, "what this function does cannot be checked; run with --unchecked")

    def _planned(self, node: ast.Call, called: Any) -> Any:
        """The call of a plan function, its arguments guarded in the order of the parameters."""
        if called.__name__ not in ARGUMENTS:
            raise self._refused(node, f"{called.__name__} cannot be checked")
        site, kinds = self._site(node), ARGUMENTS[called.__name__]
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise self._refused(node, f"the arguments of {called.__name__} are written one by one")
        given: dict[str, Any] = {str(one.arg): one.value for one in node.keywords}
        try:
            parameters = inspect.signature(called)
            bound = parameters.bind(*node.args, **given).arguments
        except TypeError as error:
            raise self._refused(node, f"{called.__name__}: {error}") from error
        is_placed = any(name in bound for name in PLACES)
        left_out = {name: _at(node, _number(value)) for name, value in DEFAULTS.get(called.__name__, {}).items()}
        bound = left_out | bound
        bound = {name: bound[name] for name in parameters.parameters if name in bound}
        self.planned |= {called.__name__, *bound}
        arguments = []
        for name, value in bound.items():
            kind = kinds.get(name, "")
            if kind in ("source_level", "result_level") and not is_placed:
                kind = f"own_{kind}"
            arguments.append((name, self._argument(kind, site, self.visit(value), value)))
        node.args = []
        node.keywords = [ast.keyword(name, value) for name, value in arguments]
        return node

    def _argument(self, kind: str, site: int, value: ast.expr, place: ast.expr) -> Any:
        """An argument of a plan function, with the checks of its kind."""
        if kind in self._ranges:
            about, low, high = self._ranges[kind]
            value = self._guard("require", site, about, place, value, _number(low), _number(high))
        if kind in GUARDS:
            value = _at(place, ast.Call(self._used(kind), [self._plain(site), value], []))
        return value

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """What only the plan functions may touch."""
        if isinstance(node.value, ast.Name) and node.value.id == "plan" and node.attr in INTERNAL:
            raise self._refused(node, f"plan.{node.attr} is kept by the functions of the interface; call one of them")
        return self._value(node)

    def visit_Name(self, node: ast.Name) -> Any:
        """A name on its own."""
        return self._value(node)

    def _value(self, node: ast.expr) -> Any:
        value = self._resolved(node)
        if _is_plan_function(value):
            raise self._refused(node, f"{ast.unparse(node)} can only be called, so that the call can be checked")
        if isinstance(value, FunctionType):
            self.calls.append((value, node.lineno))
        return node if value is not None else self.generic_visit(node)

    def _resolved(self, node: ast.expr) -> Any:
        """The value of a name, or of an attribute of a module, as far as it is the same in every call."""
        if isinstance(node, ast.Attribute):
            owner = self._resolved(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        if not isinstance(node, ast.Name) or node.id in self._locals:
            return None
        function = self._function
        if node.id in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(node.id)]
            return _content(cell)
        builtin = function.__globals__.get("__builtins__", {})
        known = vars(builtin) if isinstance(builtin, ModuleType) else builtin
        return function.__globals__.get(node.id, known.get(node.id))

    # Parts.

    def _site(self, node: ast.expr | ast.stmt) -> int:
        return self._sites.add(self._file, node)

    def _guard(self, name: str, site: int, kind: Kind, place: ast.AST, *arguments: ast.expr) -> Any:
        """A call of a guard that takes site and kind."""
        about = [_number(site), _number(kind)]
        if name in FUNCTIONS:
            about = [self._plain(site), self._plain(kind)]
        return _at(place, ast.Call(self._used(name), [*about, *arguments], []))

    def _plain(self, number: int) -> ast.expr:
        return ast.Call(self._used("plain"), [_number(number)], [])

    def _used(self, name: str) -> ast.expr:
        self.used.add(name)
        return ast.Name(PREFIX + name, ast.Load())

    def _refused(self, node: ast.expr | ast.stmt, reason: str) -> DesignError:
        return DesignError(f"{self._file}:{node.lineno}: {reason}")


def _is_plan_function(found: Any) -> bool:
    return isinstance(found, FunctionType) and found.__module__ in PLAN_MODULES


def _among(found: Any, functions: Iterable[Any]) -> bool:
    return any(found is one for one in functions)


def _is_chain(node: ast.expr) -> bool:
    """A name, or attributes of one: what may be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _elements(index: ast.expr) -> Sequence[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _constant(node: ast.expr) -> int | None:
    """The value of an integer that is written down."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _number(value: int) -> ast.expr:
    return ast.Constant(int(value))


def _at(place: ast.AST, node: Any) -> Any:
    """The node, at the lines of another."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _flat(statements: Iterable[Any]) -> list[ast.stmt]:
    return [one for found in statements for one in (found if isinstance(found, list) else [found])]


def _local_names(code: CodeType) -> frozenset[str]:
    names = {*code.co_varnames, *code.co_cellvars}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _local_names(constant)
    return frozenset(names)
