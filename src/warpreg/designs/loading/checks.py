"""Checks of a design's file at load; each error is one line that names the author's file and line."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Declaration
from warpreg.designs.interface.declaration import field_of
from warpreg.designs.interface.hooks import HOOKS, is_hook
from warpreg.designs.interface.loads import lane_address
from warpreg.designs.interface.plan_functions import pattern, width
from warpreg.designs.interface.returns import check_returns

FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "residency": (("parameters", "program", "machine"), ("launch", "analysis")),
    "rewrite": (("kernel", "parameters"), ("room", "analysis")),
    "compile": (("program", "parameters"), ("kernel", "room", "analysis")),
    "hints": (("program", "parameters"), ("analysis", "room")),
    "init": (("parameters", "program"), ("room", "analysis")),
    "structures": (("parameters",), ()),
    "banks": (("parameters",), ("machine",)),
    "collectors": (("parameters",), ("machine",)),
    "paths": (("parameters",), ("machine",)),
    "hardware": (("parameters",), ("machine",)),
    "stages": (("parameters",), ()),
    "explain": (("program", "parameters", "kernel"), ("analysis",)),
    "checked": (("program", "parameters", "kernel"), ()),
    "corruptions": (("kernel", "parameters", "visits"), ()),
}
"""The plain functions of a design: required parameters, then optional ones."""


def check(path: Path, text: str, module: ModuleType) -> Declaration:
    """Check a design and return its declaration; raises DesignError for an invalid one."""
    tree = ast.parse(text)
    definitions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    declaration = getattr(module, "DESIGN", None)
    if not isinstance(declaration, Declaration):
        raise DesignError(f"{path}:1: no DESIGN = Declaration(...), so this is not a design")
    _check_parameters(path, module, definitions)
    for name, node in definitions.items():
        if isinstance(node, ast.FunctionDef):
            _check_function(path, name, node, getattr(module, name, None))
    _check_requests(path, tree, module, declaration)
    if "choose" in definitions and "policy" not in declaration.slots:
        raise DesignError(f"{path}:{definitions['choose'].lineno}: choose requires slot 'policy'")
    has_state = "State" in definitions or "init" in definitions
    if has_state and not (hasattr(module, "State") and "init" in definitions):
        present, missing = ("State", "init") if "State" in definitions else ("init", "State")
        raise DesignError(f"{path}:{definitions[present].lineno}: {present} without {missing}: a state needs both")
    if "State" in definitions and not hasattr(module.State, "_fields"):
        raise DesignError(f"{path}:{definitions['State'].lineno}: State must be a NamedTuple")
    fields = getattr(getattr(module, "State", None), "_fields", ())
    for name in declaration.uses:
        if field_of(name) not in fields:
            raise DesignError(
                f"{path}:1: the design uses {name}, so State needs a field {field_of(name)}: what stands in for the "
                "state of that design without it, or None"
            )
    return declaration


def _check_requests(path: Path, tree: ast.Module, module: ModuleType, declaration: Declaration) -> None:
    """Only a design that declares widths, patterns or lanes is fed with them."""
    for function, declares in ((width, "widths"), (pattern, "patterns"), (lane_address, "lanes")):
        for node in () if getattr(declaration, declares) else ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node.func, module) is function:
                raise DesignError(
                    f"{path}:{node.lineno}: {function.__name__} requires DESIGN = Declaration(..., {declares}=True)"
                )


def _called(function: ast.expr, module: ModuleType) -> object:
    """The value of a name, or of a name in a module."""
    if isinstance(function, ast.Name):
        return getattr(module, function.id, None)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return getattr(getattr(module, function.value.id, None), function.attr, None)
    return None


def _check_parameters(path: Path, module: ModuleType, definitions: dict[str, Any]) -> None:
    if "Parameters" not in definitions:
        return
    line, kind = definitions["Parameters"].lineno, module.Parameters
    if not dataclasses.is_dataclass(kind):
        raise DesignError(f"{path}:{line}: Parameters must be a frozen dataclass")
    for field in dataclasses.fields(kind):
        if "source" not in field.metadata:
            raise DesignError(f"{path}:{line}: Parameters.{field.name} must be a parameter(...) with a source")


def _check_function(path: Path, name: str, node: ast.FunctionDef, value: object) -> None:
    if name in HOOKS and not is_hook(value):
        raise DesignError(f"{path}:{node.lineno}: {name} is the name of a hook but is not under @hook")
    found = tuple(argument.arg for argument in node.args.args)
    if name in FUNCTIONS and not _takes(found, *FUNCTIONS[name]):
        raise DesignError(
            f"{path}:{node.lineno}: {name} takes {_signature(*FUNCTIONS[name])}, found ({', '.join(found)})"
        )
    if isinstance(value, FunctionType) and is_hook(value):
        check_returns(path, name, node)


def _takes(found: tuple[str, ...], needed: tuple[str, ...], offered: tuple[str, ...]) -> bool:
    """Whether the parameters are the required ones, then some of the optional ones, in order."""
    rest = found[len(needed) :]
    return found[: len(needed)] == needed and rest == tuple(name for name in offered if name in rest)


def _signature(needed: tuple[str, ...], offered: tuple[str, ...]) -> str:
    optional = "".join(f"[, {name}]" for name in offered)
    return f"({', '.join(needed)}{optional})"
