"""The source text with the services of all parts of the parser: locations, opcodes, source files, errors."""

from __future__ import annotations

import re

from warpreg.ir.errors import Location
from warpreg.ir.opcodes import canonical
from warpreg.ptx.diagnostics import Reporter
from warpreg.ptx.names import UnresolvedOperandError

OPCODE = re.compile(r"[a-z]\w*(?:\.(?:[A-Za-z]\w*|\d+[A-Za-z]\w*)(?:::\w+)*)*", re.ASCII)
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"([^"\n]*)"', re.MULTILINE)


class OpcodeCache(dict[str, tuple[str, tuple[str, ...]]]):
    """Base opcode and modifiers, in the order of the table, by the written opcode.

    Raises UnresolvedOperandError for a name that is not an opcode, and for calls.
    """

    def __missing__(self, text: str) -> tuple[str, tuple[str, ...]]:
        if OPCODE.fullmatch(text) is None:
            raise UnresolvedOperandError
        base, *modifiers = text.split(".")
        if base == "call":
            raise UnresolvedOperandError
        self[text] = base, canonical(base, tuple(modifiers))
        return self[text]


class Source:
    """A PTX text without comments.  Locations are computed for increasing offsets, so that counting lines is linear."""

    def __init__(self, text: str, file: str, reporter: Reporter) -> None:
        self.text = text
        self.file = file
        self.reporter = reporter
        self.opcodes = OpcodeCache()
        self.files = dict(_FILE.findall(text))
        self.separator = ", " if 2 * text.count(", ") >= text.count(",") else ","
        self.line = 1
        self.line_start = 0
        self.counted = 0
        self._places: dict[tuple[str, str, str], Location] = {}

    def place(self, offset: int) -> Location:
        """Line and column of an offset; an offset before the last one requested counts as on the last line."""
        lines = self.text.count("\n", self.counted, offset)
        if lines:
            self.line += lines
            self.line_start = self.text.rfind("\n", self.counted, offset) + 1
        self.counted = max(offset, self.counted)
        return Location(self.file, self.line, max(1, offset - self.line_start + 1))

    def original(self, file: str, line: str, column: str) -> Location | None:
        """The location in the original program that ``.loc`` names; None if no ``.file`` declares its file."""
        if file not in self.files:
            return None
        key = (file, line, column)
        found = self._places.get(key)
        if found is None:
            found = Location(self.files[file], int(line), int(column or 0))
            self._places[key] = found
        return found
