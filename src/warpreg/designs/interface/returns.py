"""Static check of a hook's return statements: an integer or nothing, according to its specification.

The check reads the source only.  It finds a wrong annotation, a missing value, a path without a return, and a value
that cannot be an integer.  Other errors are found when the hook is compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hooks import HOOKS

WORDS = {True: "an integer", False: "nothing"}


def check_returns(path: Path, name: str, node: ast.FunctionDef) -> None:
    """Raises DesignError with the line of the first return that does not fit hook ``name``."""
    returns_int = HOOKS[name].returns_int
    declared = "" if node.returns is None else ast.unparse(node.returns)
    if declared and declared != ("int" if returns_int else "None"):
        raise DesignError(f"{path}:{node.lineno}: hook {name} returns {WORDS[returns_int]}, found -> {declared}")
    for statement in _returns(node.body):
        if not _fits(statement.value, returns_int):
            found = ast.unparse(statement)
            raise DesignError(f"{path}:{statement.lineno}: hook {name} returns {WORDS[returns_int]}, found {found}")
    if returns_int and not _always_returns(node.body):
        raise DesignError(
            f"{path}:{node.lineno}: hook {name} returns {WORDS[returns_int]}, found a path without return"
        )


def _returns(body: Sequence[ast.stmt]) -> list[ast.Return]:
    """Return statements of a function, without those of nested functions."""
    returns: list[ast.Return] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            returns.append(statement)
        elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            returns.extend(
                _returns([inner for inner in ast.iter_child_nodes(statement) if isinstance(inner, ast.stmt)])
            )
    return returns


def _fits(value: ast.expr | None, returns_int: bool) -> bool:
    is_nothing = value is None or (isinstance(value, ast.Constant) and value.value is None)
    if not returns_int or is_nothing:
        return is_nothing and not returns_int
    return not _is_no_integer(value)


def _is_no_integer(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Constant):
        return not isinstance(value.value, int)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Div) or _is_no_integer(value.left) or _is_no_integer(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_no_integer(value.operand)
    if isinstance(value, ast.IfExp):
        return _is_no_integer(value.body) or _is_no_integer(value.orelse)
    return isinstance(value, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, (ast.Return, ast.Raise))
