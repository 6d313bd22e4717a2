"""Which hooks of a design were called, and which of their statements ran, while hooks run as plain Python.

Statements are those of the design's own file: its hooks, and the functions of the file that these name.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from warpreg.designs import Design
from warpreg.designs.interface.hooks import authors_of_hook
from warpreg.designs.interface.program import HINTS
from warpreg.designs.loading.composition import parts_of
from warpreg.ir.text_files import read_text

EMPTY_COLUMNS = frozenset(HINTS) - {"suspends"}
"""Columns that are 0 unless a design's compile step fills them."""
FOR_MESSAGES = "owner"
"""A hook that only messages ask."""


class Ran:
    """What of a design has run while it was watched."""

    def __init__(self, design: Design) -> None:
        self._authors = {
            name: {(author.__code__.co_filename, author.__name__) for author in authors_of_hook(hook)}
            for name, hook in design.hooks.items()
            if name != FOR_MESSAGES
        }
        self._statements = {str(part.path): list(_statements(part)) for part in parts_of(design)}
        self._files = {*self._statements, *(file for authors in self._authors.values() for file, _ in authors)}
        self._calls: set[tuple[str, str]] = set()
        self._lines: set[tuple[str, int]] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what runs inside."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def uncalled(self) -> list[str]:
        """The hooks that were not called."""
        return [name for name, authors in self._authors.items() if not authors <= self._calls]

    def idle(self) -> list[str]:
        """Statements that have not run, as ``file:line`` or ``file:line-line``; those of uncalled hooks too."""
        found: list[str] = []
        for file, statements in self._statements.items():
            missing = sorted(one for one in statements if not self._has_run(file, *one))
            found += [f"{Path(file).name}:{one}" for one in _ranges(missing)]
        return found

    def _has_run(self, file: str, first: int, last: int) -> bool:
        return any((file, line) in self._lines for line in range(first, last + 1))

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._files:
            return None
        self._calls.add((code.co_filename, code.co_name))
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._stepped


def unset_columns(part: Design) -> list[str]:
    """Hint columns of the program table that the design's file reads and that nothing fills, as it has no compile."""
    if hasattr(part.module, "compile"):
        return []
    read = {
        node.attr
        for node in ast.walk(ast.parse(read_text(part.path)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "program"
    }
    return sorted(read & EMPTY_COLUMNS)


def _statements(part: Design) -> Iterator[tuple[int, int]]:
    """First and last line of each statement of hooks and of functions that they name, without what is inside it."""
    tree = ast.parse(read_text(part.path))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    reached: set[str] = set()
    left = [name for name in part.hooks if name in functions and name != FOR_MESSAGES]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += [
                node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name) and node.id in functions
            ]
    for name in reached:
        yield from _lines(functions[name].body)


def _lines(body: Iterable[ast.stmt]) -> Iterator[tuple[int, int]]:
    for statement in body:
        inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text:
            last = min((child.lineno - 1 for child in inner), default=statement.end_lineno or statement.lineno)
            yield statement.lineno, max(statement.lineno, last)
        yield from _lines(inner)


def _ranges(lines: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Neighbours together: ``4`` or ``7-9``."""
    first = end = 0
    for begin, last in lines:
        if first and begin > end + 1:
            yield f"{first}-{end}" if end > first else str(first)
            first = 0
        first, end = first or begin, max(end, last)
    if first:
        yield f"{first}-{end}" if end > first else str(first)
