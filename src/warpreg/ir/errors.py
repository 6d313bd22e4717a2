"""The base exceptions of Warpreg: each error names a location, what was expected and what was found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class WarpregError(Exception):
    """Base of every error that Warpreg raises intentionally; the command line converts it to an exit status."""


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


class UnknownNameError(WarpregError):
    """An unknown name; suggests the nearest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else f"; there are: {', '.join(names)}" if names else ""
        super().__init__(f"no {kind} named '{name}'{hint}")
