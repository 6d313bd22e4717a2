"""Directives that are kept as written: those of functions and module-level ones (PTX ISA, section 11)."""

from __future__ import annotations

import difflib

from warpreg.ir.module import Attribute
from warpreg.ptx.declarations import attribute_tokens
from warpreg.ptx.diagnostics import MalformedError
from warpreg.ptx.tokens import Cursor

OLD_DEBUG = "@@DWARF"
FUNCTION_DIRECTIVES = frozenset(
    (".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".noreturn", ".pragma", ".attribute",
     ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve",
     ".abi_preserve_control", ".unique")
)  # fmt: skip


def attributes(cursor: Cursor, following: frozenset[str] = frozenset()) -> tuple[Attribute, ...]:
    """The directives between a function's parameters and its body, up to one of ``following`` that is none of them.

    Raises MalformedError.
    """
    directives = []
    while cursor.kind == "dot" and (cursor.text in FUNCTION_DIRECTIVES or cursor.text not in following):
        if cursor.text not in FUNCTION_DIRECTIVES:
            raise unknown_directive(cursor, FUNCTION_DIRECTIVES)
        directives.append(attribute(cursor))
    return tuple(directives)


def attribute(cursor: Cursor) -> Attribute:
    """One directive with its arguments; the name is kept without its dot, arguments as tokens without commas."""
    if cursor.text == ".pragma":
        found = pragma(cursor)
        cursor.take(";")
        return found
    name = cursor.text[1:]
    cursor.advance()
    if name == "attribute":
        return Attribute(name, tuple(attribute_tokens(cursor)))
    arguments = []
    while cursor.kind == "number":
        arguments.append(cursor.text)
        cursor.advance()
        if not cursor.take(","):
            break
    return Attribute(name, tuple(arguments))


def pragma(cursor: Cursor) -> Attribute:
    """``.pragma "...", "..."`` up to, not including, its ``;``.  The strings keep their quotes."""
    cursor.advance()
    strings = []
    while True:
        if cursor.kind != "string":
            raise MalformedError(cursor.start, f"expected a string after .pragma, found {cursor.found}")
        strings.append(cursor.text)
        cursor.advance()
        if not cursor.take(","):
            return Attribute("pragma", tuple(strings))


def unknown_directive(cursor: Cursor, known: frozenset[str]) -> MalformedError:
    """The error for a directive that is not valid here, with the nearest valid one."""
    near = difflib.get_close_matches(cursor.text, sorted(known), n=1, cutoff=0.6)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return MalformedError(cursor.start, f"unknown directive '{cursor.text}'{hint}")
