"""Parser of the statements of a function body: instructions, declarations, branch tables, directives."""

from __future__ import annotations

import re
from dataclasses import replace

from warpreg.ir.errors import Location
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.module import BranchTable, CallPrototype, LabelStatement, Loc, RegisterDeclaration, Statement
from warpreg.ir.opcodes import canonical
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ptx.declarations import SPACES, DeclarationReader
from warpreg.ptx.diagnostics import MalformedError
from warpreg.ptx.directives import attributes, pragma, unknown_directive
from warpreg.ptx.names import Names
from warpreg.ptx.operands import OperandReader
from warpreg.ptx.source import Source
from warpreg.ptx.tokens import IDENTIFIER, Cursor

_LABEL = re.compile(rf"\s*({IDENTIFIER})\s*:(?!:)", re.ASCII)
_DIRECTIVES = SPACES | {".reg", ".loc", ".pragma", ".branchtargets", ".calltargets", ".callprototype"}
_TABLES = frozenset({".branchtargets", ".calltargets"})
_INLINED = re.compile(
    rf"(?:,\s*function_name\s+{IDENTIFIER}\s*(?:\+\s*\d+\s*)?)?(?:,\s*inlined_at\s+\d+\s+\d+\s+\d+\s*)?;?\s*",
    re.ASCII,
)
_LOC = re.compile(r"\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})(?:[ \t]+(\d{1,9}))?[ \t]*([^\n]*)", re.ASCII)
_REST = re.compile(rf"{IDENTIFIER}|\d+|\+", re.ASCII)


class StatementReader:
    """Parses one statement at an offset; returns it and the offset after it.  Raises MalformedError."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def statement(self, start: int, names: Names, original: Location | None) -> tuple[list[Statement], int]:
        """The statement at ``start``, which is neither blank nor a brace."""
        label = _LABEL.match(self._source.text, start)
        if label is not None:
            return self._labelled(label, names)
        cursor = Cursor(self._source.text, start)
        if cursor.kind == "dot":
            found = self._directive(cursor, names)
        else:
            found = self._instruction(cursor, names, original)
        return found, self._finish(cursor)

    def loc(self, start: int) -> tuple[Loc, Location | None, int]:
        """A ``.loc`` line: the statement, the location in the original program, the offset after it."""
        match = _LOC.match(self._source.text, start)
        if match is None or _INLINED.fullmatch(match[4]) is None:
            raise MalformedError(start, "expected '.loc file line column' and an optional inlining clause")
        file, line, column, rest = match.groups(default="")
        where = self._source.original(file, line, column)
        tokens = tuple(_REST.findall(rest)) if rest else ()
        return Loc(int(file), int(line), int(column or 0), tokens), where, match.end()

    def _finish(self, cursor: Cursor) -> int:
        """The offset after the ``;``; a missing one at the end of a line is reported and assumed."""
        if cursor.text == ";":
            return cursor.end
        if cursor.on_new_line or cursor.kind == "end" or cursor.text == "}":
            self._source.reporter.add(cursor.previous_end, "missing ';'")
            return cursor.previous_end
        raise MalformedError(cursor.start, f"expected ',' or ';', found {cursor.found}")

    def _labelled(self, label: re.Match[str], names: Names) -> tuple[list[Statement], int]:
        name, start, end = label[1], label.start(1), label.end()
        if name in names.labels or names.is_declared_here(name):
            self._source.reporter.add(start, f"'{name}' is already declared in this scope")
        names.labels[name] = start
        cursor = Cursor(self._source.text, end)
        if cursor.text in _TABLES:
            return [self._table(name, cursor, names)], self._finish(cursor)
        if cursor.text == ".callprototype":
            return [self._prototype(name, cursor, names)], self._finish(cursor)
        return [LabelStatement(name, self._source.place(start))], end

    def _table(self, name: str, cursor: Cursor, names: Names) -> BranchTable:
        kind = cursor.text[1:]
        cursor.advance()
        targets = []
        while True:
            start = cursor.start
            targets.append(cursor.name("a label" if kind == "branchtargets" else "a function"))
            if kind == "branchtargets":
                names.refer(targets[-1], start, "label")
            elif names.resolve(targets[-1]) is None:
                names.refer(targets[-1], start, "function")
            if not cursor.take(","):
                return BranchTable(name, kind, tuple(targets))

    def _prototype(self, name: str, cursor: Cursor, names: Names) -> CallPrototype:
        cursor.advance()
        inner = DeclarationReader(self._source, cursor, Names(names))
        returns = inner.parameters() if cursor.text == "(" else ()
        if cursor.kind != "sink":
            cursor.name("the '_' of a prototype")
        else:
            cursor.advance()
        parameters = inner.parameters() if cursor.text == "(" else ()
        return CallPrototype(name, returns, parameters, attributes(cursor))

    def _directive(self, cursor: Cursor, names: Names) -> list[Statement]:
        declarations = DeclarationReader(self._source, cursor, names)
        if cursor.text == ".reg":
            return list(declarations.registers())
        if cursor.text in SPACES:
            return list(declarations.variables())
        if cursor.text == ".pragma":
            return [pragma(cursor)]
        raise unknown_directive(cursor, _DIRECTIVES)

    def _instruction(self, cursor: Cursor, names: Names, original: Location | None) -> list[Statement]:
        """The instruction, preceded by the sums of registers and constants in its operands."""
        start = cursor.start
        guard = self._guard(cursor, names) if cursor.text == "@" else None
        if cursor.kind != "name" or not cursor.text[0].islower():
            raise MalformedError(cursor.start, f"expected an instruction, found {cursor.found}")
        opcode = cursor.text
        cursor.advance()
        modifiers = []
        while cursor.kind == "dot":
            modifiers.append(cursor.text[1:])
            cursor.advance()
        operands: tuple[Operand, ...] = ()
        sums: list[tuple[Register, int, Register]] = []
        ends_here = cursor.on_new_line and opcode != "call" and (cursor.text == "@" or cursor.kind == "name")
        if cursor.text not in (";", "}") and cursor.kind != "end" and not ends_here:
            reader = OperandReader(cursor, names, self._source.reporter)
            operands = reader.operands(opcode)
            sums = reader.sums
        ordered = canonical(opcode, tuple(modifiers))
        found = Instruction(opcode, ordered, operands, guard, self._source.place(start), original)
        if any(found.results == (total,) for _, _, total in sums):
            raise MalformedError(start, "the result of an instruction is a register, not a sum")
        return [*(s for one in sums for s in _added(*one, found)), found]

    def _guard(self, cursor: Cursor, names: Names) -> Guard | None:
        cursor.advance()
        negated = cursor.take("!")
        start, name = cursor.start, cursor.name("a predicate")
        if cursor.kind == "dot" and cursor.start == cursor.previous_end:
            name += cursor.text
            cursor.advance()
        register = names.resolve(name)
        if register is None:
            names.undeclared_register(name, start, self._source.reporter)
            return None
        if not isinstance(register, Register) or not register.is_predicate:
            raise MalformedError(start, f"'{name}' is not a predicate register")
        return Guard(register, negated)


def _added(register: Register, constant: int, total: Register, user: Instruction) -> tuple[Statement, ...]:
    """Declaration and computation of a sum, at the location of the instruction that reads it."""
    add = Instruction("add", (f"u{total.type.bits}",), (total, register, Immediate(constant)))
    declaration = RegisterDeclaration(total.type, total.name)
    return declaration, replace(add, location=user.location, source=user.source)
