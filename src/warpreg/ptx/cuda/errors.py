"""Errors of compiling CUDA C++: one line that names place and cause, then what else the compiler says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warpreg.ir.errors import WarpregError
from warpreg.ptx.cuda.headers import wheel_of

ERROR = re.compile(
    r"^(?P<file>[^\n]+?)(?:\((?P<line>\d+)\)|:(?P<at>\d+):\d+): "
    r"(?:catastrophic |fatal )?error(?: #[\w-]+)?: (?P<what>[^\n]*)$",
    re.MULTILINE,
)
MISSING = re.compile(r'(?:cannot open source file "(?P<quoted>[^"\n]+)"|^(?P<plain>\S+): No such file or directory)')
HOST_FUNCTION = "is considered a host function"
MAX_LINES = 8
"""Lines and errors that a message lists."""

ELSEWHERE = "or compile it where CUDA is installed, with 'nvcc -ptx', and give the .ptx"


class CompilerMissingError(WarpregError):
    """CUDA C++ was given, but the compiler's wheels are not installed."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "compiling CUDA C++ needs NVRTC, which is an optional extra: pip install 'warpreg[cuda]'"
            f" (PTX files need no compiler). The import said: {reason}"
        )


class CudaCompileError(WarpregError):
    """The compiler rejected a source; ``log`` is its output, with ``file(line)`` locations.

    ``searched`` are the folders of headers; ``has_nvcc``: the log is that of nvcc, which takes host code.
    """

    def __init__(self, name: str, log: str, searched: Sequence[str] = (), *, has_nvcc: bool = False) -> None:
        self.name = name
        self.log = log
        matches = list(ERROR.finditer(log))
        if not matches:
            super().__init__(f"{name} does not compile: {log}")
        elif header := _missing(matches[0]["what"]):
            super().__init__(f"{_place(matches[0])}: {_no_header(header, searched, has_nvcc)}")
        elif lines := [_line(one) for one in matches if HOST_FUNCTION in one["what"] and one["file"] == name]:
            super().__init__(f"{name}: {_host_code(lines)}")
        else:
            causes = [f"{_place(one)}: {one['what']}" for one in matches if HOST_FUNCTION not in one["what"]]
            causes = causes or [f"{_place(one)}: {one['what'].partition(HOST_FUNCTION)[2]}" for one in matches]
            more = len(causes) - MAX_LINES
            causes[MAX_LINES:] = [f"and {more} more errors"] if more > 0 else []
            super().__init__(f"{name} does not compile: " + "\n  ".join(causes))


def _line(error: re.Match[str]) -> str:
    return error["line"] or error["at"]


def _place(error: re.Match[str]) -> str:
    return f"{error['file']}:{_line(error)}"


def _missing(what: str) -> str | None:
    found = MISSING.search(what)
    return (found["quoted"] or found["plain"]) if found else None


def _no_header(header: str, searched: Sequence[str], has_nvcc: bool) -> str:
    wheel = wheel_of(header)
    remedy = f"'pip install {wheel}' installs it" if wheel else "-I FOLDER adds a folder"
    host = (
        "" if has_nvcc or wheel else "; headers of the system need a host compiler (g++ or clang++), which is missing"
    )
    return f"no header '{header}'; {remedy}{host}; searched: {', '.join(searched)}"


def _host_code(lines: Sequence[str]) -> str:
    listed = ", ".join(lines[:MAX_LINES]) + (", ..." if len(lines) > MAX_LINES else "")
    where = f"line {listed}" if len(lines) == 1 else f"lines {listed}"
    return (
        f"host code in {where} needs nvcc of the cuda extra and a host compiler (g++ or clang++), one of which is"
        f" missing; install it, remove the host code, {ELSEWHERE}"
    )
