"""The statements of a function body (PTX ISA, section 4.3).

Nearly every line is one instruction with simple operands.  Such a line needs one match of ``_COMMON`` and a dictionary
lookup for its opcode and for each operand; `StatementReader` reads everything else, and every line with an error.
"""

from __future__ import annotations

import re
from dataclasses import replace

from warpreg.ir.errors import Location
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Scope, Statement, Variable
from warpreg.ir.operands import Operand
from warpreg.ptx.diagnostics import MalformedError
from warpreg.ptx.literals import MAX_DEPTH
from warpreg.ptx.names import Names, UnresolvedOperandError
from warpreg.ptx.source import Source
from warpreg.ptx.statements import StatementReader
from warpreg.ptx.tokens import IDENTIFIER, recover, skip_space

_COMMON = re.compile(r"\s*(?:@(!?)([%$\w]+)[ \t]+)?([a-z][\w.:]{0,200})(?:[ \t]+([^;\n]{1,2000}))?;", re.ASCII)
_OUTSIDE_BRACES = re.compile(r", ?(?![^{\[]*[}\]])")
_DIRECTIVE = re.compile(r"\.\w+", re.ASCII)
_DECLARED = re.compile(rf"({IDENTIFIER})(\s*<)?", re.ASCII)
_ELSEWHERE = frozenset(
    {".visible", ".extern", ".weak", ".entry", ".func", ".version", ".target", ".address_size", ".section", ".file"}
)


class BodyReader:
    """Reads one function body from after its ``{``, whose offset is ``opening``."""

    def __init__(self, source: Source, names: Names, opening: int, function: str = "") -> None:
        self._function = function
        self._source = source
        self._names = names
        self._openings = [opening]
        self._statements: list[Statement] = []
        self._outer: list[list[Statement]] = []
        self._original: Location | None = None
        self._general = StatementReader(source)

    def read(self) -> tuple[tuple[Statement, ...], int]:
        """The statements and the offset after the closing brace.  Errors go to the source's reporter."""
        text = self._source.text
        position = self._openings[0] + 1
        while self._openings:
            position = self._instructions(position)
            start = skip_space(text, position)
            try:
                position = self._other(start)
            except MalformedError as error:
                self._source.reporter.add(error.offset, error.message)
                position = recover(text, start, max(error.offset, start))
                if text.startswith(".", start):
                    self._suppress(text[start:position])
        return tuple(self._statements), position

    def _instructions(self, position: int) -> int:
        """Read instructions of the common form; returns the offset of the first statement of another form."""
        source, names, original = self._source, self._names, self._original
        text, file, opcodes, cached = source.text, source.file, source.opcodes, names.operands.__getitem__
        match, append = _COMMON.match, self._statements.append
        separator = source.separator
        line, line_start, counted = source.line, source.line_start, source.counted
        while (matched := match(text, position)) is not None:
            negated, predicate, written, raw = matched.groups()
            try:
                opcode, modifiers = opcodes[written]
                operands: tuple[Operand, ...]
                if raw is None:
                    operands = ()
                elif opcode == "bra":
                    operands = names.target(raw, matched.start(4))
                elif "{" in raw:
                    operands = tuple(map(cached, _OUTSIDE_BRACES.split(raw)))
                else:
                    operands = tuple(map(cached, raw.split(separator)))
                guard = names.guard(predicate, negated) if predicate else None
            except UnresolvedOperandError:
                break
            start = matched.start(2) - 1 - len(negated) if predicate else matched.start(3)
            lines = text.count("\n", counted, start)
            if lines:
                line += lines
                line_start = text.rfind("\n", counted, start) + 1
            counted = start
            place = Location(file, line, start - line_start + 1)
            append(Instruction(opcode, modifiers, operands, guard, place, original))
            position = matched.end()
        source.line, source.line_start, source.counted = line, line_start, counted
        return position

    def _other(self, start: int) -> int:
        """Read a statement of another form at ``start``; returns the offset after it."""
        mark = self._source.text[start : start + 1]
        if mark == "}":
            self._close()
            return start + 1
        if mark == "{":
            self._open(start)
            return start + 1
        if mark == "":
            return self._unclosed(start, "before the end of the file")
        if mark == ".":
            directive = _DIRECTIVE.match(self._source.text, start)
            if directive is not None and directive[0] == ".loc":
                statement, self._original, end = self._general.loc(start)
                self._statements.append(statement)
                return end
            if directive is not None and directive[0] in _ELSEWHERE:
                return self._unclosed(start, f"before '{directive[0]}'")
        statements, end = self._general.statement(start, self._names, self._original)
        self._statements += (self._owned(s) if isinstance(s, Variable) else s for s in statements)
        return end

    def _owned(self, variable: Variable) -> Variable:
        """A static variable of global or constant memory belongs to the function, or to the nested scope."""
        if variable.space not in ("global", "const"):
            return variable
        scope = f"{self._function}.{self._openings[-1]}" if len(self._openings) > 1 else self._function
        return replace(variable, owner=scope)

    def _open(self, start: int) -> None:
        if len(self._openings) > MAX_DEPTH:
            self._openings.clear()
            raise MalformedError(start, f"scopes nested more than {MAX_DEPTH} deep")
        self._openings.append(start)
        self._outer.append(self._statements)
        self._statements = []
        self._names = Names(self._names)

    def _close(self) -> None:
        self._openings.pop()
        self._names.close(self._source.reporter)
        if self._openings:
            scope = Scope(tuple(self._statements))
            self._statements = self._outer.pop()
            self._statements.append(scope)
            assert self._names.parent is not None
            self._names = self._names.parent

    def _unclosed(self, start: int, where: str) -> int:
        reporter = self._source.reporter
        line = reporter.line(self._openings[-1])
        reporter.add(start, f"missing '}}' {where}: the '{{' of line {line} is open")
        while self._openings:
            self._close()
        return start

    def _suppress(self, statement: str) -> None:
        for name, is_range in _DECLARED.findall(statement):
            self._names.suppress(name + "<" if is_range else name)
