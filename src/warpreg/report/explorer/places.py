"""Where the errors of a text are: line and column, as far as an error names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.ir.errors import UnsupportedError, WarpregError
from warpreg.ptx.cuda.errors import ERROR, MISSING, CudaCompileError
from warpreg.ptx.diagnostics import PtxError

INDENT = 2
"""Columns before a source line in the log of NVRTC, which prints a tab as one blank."""
CARET = re.compile(r"[^\n]*\n( +)\^")
HEADERS = "the headers of CUDA, and those that the file included when the page was opened, can be included"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error; ``line`` and ``column`` of the text count from 1, 0 if they are not known."""

    message: str
    line: int = 0
    column: int = 0


def problems(error: WarpregError, name: str) -> list[Problem]:
    """The errors that an error consists of; places in the file ``name`` are lines of the text."""
    if isinstance(error, CudaCompileError):
        return [*_of_log(error.log, name)] or [Problem(str(error))]
    if isinstance(error, PtxError):
        return [
            Problem(one.message, one.location.line, one.location.column)
            if one.location.file == name
            else Problem(f"{one.location}: {one.message}")
            for one in error.diagnostics
        ]
    if isinstance(error, UnsupportedError) and error.location and error.location.file == name:
        return [Problem(str(error).removeprefix(f"{error.location}: "), error.location.line, error.location.column)]
    return [Problem(str(error))]


def _of_log(log: str, name: str) -> Iterator[Problem]:
    for found in ERROR.finditer(log):
        line, missing = int(found["line"] or found["at"]), MISSING.search(found["what"])
        message = f"no header '{missing['quoted'] or missing['plain']}': {HEADERS}" if missing else found["what"]
        if found["file"] == name:
            caret = CARET.match(log, found.end() + 1)
            yield Problem(message, line, len(caret[1]) - INDENT + 1 if caret else 0)
        else:
            yield Problem(f"{found['file']}:{line}: {message}")
