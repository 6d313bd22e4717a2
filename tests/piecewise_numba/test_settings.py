"""The settings of the package: nothing is kept by default, and it knows nothing of Warpreg."""

from __future__ import annotations

import ast
from pathlib import Path

import piecewise_numba
from piecewise_numba import settings


def test_by_default_nothing_is_kept() -> None:
    nowhere = settings.NoStorage()
    nowhere.write("cores", "key", b"code")
    assert nowhere.read("cores", "key") is None
    with nowhere.held("key"):
        pass


def test_it_imports_nothing_of_warpreg() -> None:
    imported = {
        name.partition(".")[0]
        for path in Path(piecewise_numba.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _names(node)
    }
    assert "numba" in imported
    assert {name for name in imported if name.startswith("warpreg")} == set()


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
