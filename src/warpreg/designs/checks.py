"""What is checked of a design's file when it is loaded; each finding is one line with the author's file and line."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.hooks import HOOKS, is_hook
from warpreg.designs.interface import Declaration

FUNCTIONS = {
    "init": ("parameters", "program"),
    "compile": ("program", "parameters"),
    "structures": ("parameters",),
}


def check(path: Path, text: str, module: ModuleType) -> Declaration:
    """The declaration of a well-formed design; raises DesignError for anything else."""
    tree = ast.parse(text)
    definitions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    declaration = getattr(module, "DESIGN", None)
    if not isinstance(declaration, Declaration):
        raise DesignError(f"{path}:1: no DESIGN = Declaration(...), so this is not a design")
    _check_parameters(path, module, definitions)
    for name, node in definitions.items():
        if isinstance(node, ast.FunctionDef):
            _check_function(path, name, node, getattr(module, name, None))
    has_state = "State" in definitions or "init" in definitions
    if has_state and not ("State" in definitions and "init" in definitions):
        present, missing = ("State", "init") if "State" in definitions else ("init", "State")
        raise DesignError(f"{path}:{definitions[present].lineno}: {present} without {missing}: a state needs both")
    if "State" in definitions and not hasattr(module.State, "_fields"):
        raise DesignError(f"{path}:{definitions['State'].lineno}: State must be a NamedTuple")
    return declaration


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
    if name in FUNCTIONS and found != FUNCTIONS[name]:
        raise DesignError(
            f"{path}:{node.lineno}: {name} takes ({', '.join(FUNCTIONS[name])}), found ({', '.join(found)})"
        )
    if isinstance(value, FunctionType) and is_hook(value):
        _check_returns_nothing(path, name, node)


def _check_returns_nothing(path: Path, name: str, node: ast.FunctionDef) -> None:
    declared = node.returns
    if declared is not None and ast.unparse(declared) != "None":
        raise DesignError(f"{path}:{node.lineno}: hook {name} returns nothing, found -> {ast.unparse(declared)}")
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        if not (isinstance(statement.value, ast.Constant) and statement.value.value is None):
            raise DesignError(f"{path}:{statement.lineno}: hook {name} returns nothing, found {ast.unparse(statement)}")
