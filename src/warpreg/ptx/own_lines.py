"""A module whose instructions come from the lines of its own PTX text, not from those of another source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warpreg.ir.errors import Location
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Function, Loc, Module, Scope, SourceFile, Statement, TopLevel

FILE = 1
"""The index of the text among the source files."""


def by_own_lines(module: Module, name: str) -> Module:
    """The module with the text itself, named ``name``, as the only source file; ``write`` says so in ``.loc`` lines."""
    items = (_item(item, name) for item in module.items if not isinstance(item, SourceFile))
    return replace(module, items=(SourceFile(FILE, name), *items), digest="")


def _item(item: TopLevel, name: str) -> TopLevel:
    if not isinstance(item, Function) or item.body is None:
        return item
    return replace(item, body=tuple(_statements(item.body, name)))


def _statements(statements: tuple[Statement, ...], name: str) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, Scope):
            yield Scope(tuple(_statements(statement.statements, name)))
        elif isinstance(statement, Instruction) and statement.location:
            line = statement.location.line
            yield Loc(FILE, line, 1)
            yield replace(statement, source=Location(name, line))
        elif not isinstance(statement, Loc):
            yield statement
