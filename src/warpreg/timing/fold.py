"""Names of whole numbers in a function's source replaced by the numbers, before it is compiled.

Compiling takes time for every name that is looked up; named columns would cost a third of it.  Branches that constants
decide are left out, so a core without a feature does not carry its code.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any, cast


def folded(function: FunctionType) -> FunctionType:
    """The function with the integers that it names as literals, line numbers kept; itself if its source is gone."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return function
    if function.__closure__:
        return function
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function
    definition.decorator_list = []
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    local = {*function.__code__.co_varnames}
    tree = ast.fix_missing_locations(_Folder(function.__globals__, local).visit(tree))
    ast.increment_lineno(tree, first - 1)
    code = compile(tree, function.__code__.co_filename, "exec", dont_inherit=True)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    result = cast(FunctionType, namespace[function.__name__])
    copy = FunctionType(result.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    return copy


class _Folder(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any], local: set[str]) -> None:
        self._names, self._local = names, local

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id not in self._local:
            return _literal(self._names.get(node.id), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id not in self._local:
            module = self._names.get(owner.id)
            if isinstance(module, ModuleType) and isinstance(node.ctx, ast.Load):
                return _literal(getattr(module, node.attr, None), node)
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return _literal(eval(compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")), node)
        return node


def _literal(value: Any, node: ast.expr) -> ast.expr:
    if type(value) in (int, bool):
        return ast.copy_location(ast.Constant(value), node)
    return node
