"""The base exceptions of Warpreg: each error names a location, what was expected and what was found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST = 1_900
"""Characters of a message, so that its line stays below 2,000; a flood is counted, not printed."""


def shortened(text: str) -> str:
    """The message, or its first lines and the number of the others where it is longer than `LONGEST`."""
    if len(text) <= LONGEST:
        return text
    room = LONGEST - len("\n... and 999999999 more characters")
    kept = text[:room].rpartition("\n")[0]
    if len(kept) < room // 2:
        return f"{text[:room]}... and {len(text) - room} more characters"
    return f"{kept}\n... and {len(text[len(kept) + 1 :].splitlines())} more lines"


class WarpregError(Exception):
    """Base of every error that Warpreg raises intentionally; the command line converts it to an exit status."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


class WarpregWarning(RuntimeWarning):
    """Base of every warning that Warpreg gives intentionally; the command line prints it as one line."""


@dataclass(frozen=True, slots=True)
class Location:
    """A location in a source text; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class UnsupportedError(WarpregError):
    """A well-formed construct that Warpreg parses but cannot execute; names the opcode, file and line."""

    def __init__(self, what: str, location: Location | None, reason: str = "is not supported") -> None:
        self.what = what
        self.location = location
        where = f"{location}: " if location else ""
        super().__init__(f"{where}{what} {reason}")


class InterruptedCodeError(WarpregError):
    """The user has interrupted code that a file of his brought along; the message says where it was."""


MAX_NAMES = 5
"""Names that a message lists."""


class UnknownNameError(WarpregError):
    """An unknown name; suggests the nearest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        nearest = difflib.get_close_matches(name, names, n=MAX_NAMES, cutoff=0.0)
        hint = ""
        if near:
            hint = f"; did you mean '{near[0]}'?"
        elif len(names) > MAX_NAMES:
            hint = f"; there are {len(names)}, the nearest: {', '.join(nearest)}"
        elif names:
            hint = f"; there are: {', '.join(names)}"
        super().__init__(f"no {kind} named '{name}'{hint}")
