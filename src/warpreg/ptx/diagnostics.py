"""Diagnostics of the PTX reader: every independent error of a file, each with its location, source line and caret."""

from __future__ import annotations

import bisect
import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warpreg.ir.errors import LONGEST, Location, WarpregError

SHOWN = 240
"""Characters shown of a source line."""

SUGGESTIONS = 20
"""The number of unknown names per file that get a suggestion: finding one takes time linear in the names."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error: its location, the message, and the source line (of a long line, an excerpt).

    ``caret`` is the position of the error in ``line``, from 0.
    """

    location: Location
    message: str
    line: str
    caret: int

    def __str__(self) -> str:
        """``file:line:column: message``, the source line and a caret below the column."""
        indent = "".join("\t" if c == "\t" else " " for c in self.line[: self.caret])
        return f"{self.location}: {self.message}\n{self.line}\n{indent}^"


class PtxError(WarpregError):
    """A text that is not well-formed PTX; ``diagnostics`` holds all its independent errors in textual order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(_joined(list(map(str, self.diagnostics))))


def _joined(errors: list[str]) -> str:
    """The first errors, as many as a message holds, and the number of the others."""
    room, shown = LONGEST - len("... and 999999999 more errors"), 0
    while shown < len(errors) and len(errors[shown]) < room:
        room -= len(errors[shown]) + 1
        shown += 1
    more = len(errors) - shown
    if not shown or not more:
        return "\n".join(errors)
    return "\n".join((*errors[:shown], f"... and {more} more error{'s' if more > 1 else ''}"))


class MalformedError(WarpregError):
    """Raised inside the reader if a statement cannot be parsed; the statement loop records it and recovers."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message
        super().__init__(message)


class Reporter:
    """Collects errors by their offset in the text."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._found: dict[int, str] = {}
        self._suggestions = SUGGESTIONS
        self._end = len(text) + 1

    def ignore_after(self, offset: int) -> None:
        """Drop later errors about the text after ``offset``."""
        self._end = offset

    def add(self, offset: int, message: str) -> None:
        """Record an error; a second one at the same offset is dropped."""
        if offset < self._end:
            self._found.setdefault(offset, message)

    def add_unknown(self, offset: int, kind: str, name: str, known: Iterable[str]) -> None:
        """Record the use of an undeclared name, with the nearest declared one."""
        message = f"undeclared {kind} '{name}'"
        if self._suggestions > 0 and offset < self._end:
            self._suggestions -= 1
            near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
            if near:
                message += f"; did you mean '{near[0]}'?"
        self.add(offset, message)

    def raise_if_any(self) -> None:
        """Raise PtxError if an error was recorded."""
        if self._found:
            raise PtxError(self._diagnostics())

    def line(self, offset: int) -> int:
        """The number of the line at an offset, from 1."""
        return bisect.bisect_right(self._starts, min(offset, len(self._text)))

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The start offset of each line, and one past the end of the last."""
        lengths = (len(line) + 1 for line in self._text.split("\n"))
        return list(itertools.accumulate(lengths, initial=0))

    def _diagnostics(self) -> Iterator[Diagnostic]:
        starts = self._starts
        for offset in sorted(self._found):
            number = self.line(offset)
            start = starts[number - 1]
            first = max(start, offset - SHOWN // 2)
            line = self._text[first : min(starts[number] - 1, first + SHOWN)].rstrip("\r")
            location = Location(self._file, number, offset - start + 1)
            yield Diagnostic(location, self._found[offset], line, offset - first)
