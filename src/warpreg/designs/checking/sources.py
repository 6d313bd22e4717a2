"""The syntax tree of a function, and a function made of a changed one."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
from collections.abc import Sequence
from types import CodeType, FunctionType

from warpreg.designs.errors import DesignError

OUTER, INNER = "_check_names", "_check_function"


def definition(function: FunctionType) -> ast.FunctionDef:
    """The tree of a function, without decorators, annotations and defaults; lines are those of the file.

    Raises DesignError where it cannot be found.
    """
    code = function.__code__
    found = _definitions("".join(linecache.getlines(code.co_filename)), code.co_filename)
    tree = found.get((code.co_name, code.co_firstlineno))
    if tree is None:
        raise DesignError(
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_name} cannot be checked, because its source is not "
            "found; write it as a def of its own, or run with --unchecked"
        )
    return _bare(tree)


def remade(function: FunctionType, tree: ast.FunctionDef) -> FunctionType:
    """The function with another body; globals, closure and defaults are its own."""
    code = function.__code__
    outer = ast.parse(f"def {OUTER}({', '.join(code.co_freevars)}): pass")
    holder = outer.body[0]
    assert isinstance(holder, ast.FunctionDef)
    tree.name = INNER
    holder.body = [tree]
    whole = compile(ast.fix_missing_locations(outer), code.co_filename, "exec", dont_inherit=True)
    made = _inside(_inside(whole, OUTER), INNER).replace(co_name=code.co_name, co_qualname=code.co_qualname)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in made.co_freevars)
    changed = FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    changed.__kwdefaults__ = function.__kwdefaults__
    changed.__module__ = function.__module__
    changed.__qualname__ = function.__qualname__
    vars(changed).update(vars(function))
    return changed


@functools.lru_cache(maxsize=64)
def _definitions(text: str, name: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line, decorators included; lambdas that are alone in their line."""
    functions: dict[tuple[str, int], ast.FunctionDef] = {}
    lambdas: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(ast.parse(text or "pass", name)):
        if isinstance(node, ast.FunctionDef):
            functions[node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])] = node
        elif isinstance(node, ast.Lambda):
            lambdas.setdefault(node.lineno, []).append(node)
    for line, (node, *others) in lambdas.items():
        if not others:
            functions["<lambda>", line] = _named(node)
    return functions


def _named(node: ast.Lambda) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef("_lambda", node.args, [body], [], None)
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _bare(tree: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of the tree that evaluates nothing when it is compiled."""
    given = tree.args
    arguments = ast.arguments(
        posonlyargs=_names(given.posonlyargs),
        args=_names(given.args),
        vararg=next(iter(_names([given.vararg])), None),
        kwonlyargs=_names(given.kwonlyargs),
        kw_defaults=[None for _ in given.kwonlyargs],
        kwarg=next(iter(_names([given.kwarg])), None),
        defaults=[],
    )
    made = ast.FunctionDef(tree.name, arguments, copy.deepcopy(tree.body), [])
    return ast.fix_missing_locations(ast.copy_location(made, tree))


def _names(given: Sequence[ast.arg | None]) -> list[ast.arg]:
    return [ast.copy_location(ast.arg(one.arg), one) for one in given if one is not None]


def _inside(code: CodeType, name: str) -> CodeType:
    """The code of a function that other code defines."""
    return next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
