"""nvcc of the ``cuda`` extra, with a host compiler of the system: it takes whole programs with host code."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.headers import MAJOR, roots, toolkit_folders
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.ptx.cuda.templates import instances, instantiation

HOST_COMPILERS = ("g++", "clang++")
HEEDED = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH")
"""Environment variables that change what nvcc or the host compiler do."""

SOURCE, PTX = "source.cu", "kernels.ptx"
SEPARATE = "requires separate compilation mode"


@dataclass(frozen=True, slots=True)
class Nvcc:
    """nvcc and its host compiler."""

    program: Path
    host: Path

    @property
    def identity(self) -> tuple[str, ...]:
        """What the output depends on, beside versions of wheels."""
        host = self.host.resolve()
        return (str(host), str(host.stat().st_mtime_ns), *(os.environ.get(name, "") for name in HEEDED))

    def compile_text(
        self, text: str, name: Path, options: CudaOptions, kernels: Sequence[str] = ()
    ) -> tuple[str, list[str]]:
        """PTX of a source text, and the names in it of ``kernels``, templates with arguments that are instantiated.

        ``name`` is the path of the file of the source.  Raises `CudaCompileError` with nvcc's log.
        """
        with tempfile.TemporaryDirectory(prefix="warpreg-") as made:
            place = Path(made).resolve()
            links = _linked(place, "include", options.folders) | _linked(place, "system", map(str, toolkit_folders()))
            (place / SOURCE).write_text(_source(text, name, options, kernels), encoding="utf-8")
            own = [] if name.is_file() else [str(name.parent)]
            links |= _linked(place, "own", own)
            log = self._run(place, options.architecture, links)
            if SEPARATE in log:
                log = self._run(place, options.architecture, links, "-rdc=true")
            if not (place / PTX).is_file():
                raise CudaCompileError(str(name), _told(log, place, links))
            return instances(_told((place / PTX).read_text(encoding="utf-8"), place, links))

    def _run(self, place: Path, architecture: str, links: Iterable[str], *more: str) -> str:
        """Call nvcc in a folder; returns its messages.

        nvcc hands its arguments to a shell, so none of them has characters of the user.
        """
        folders = [word for link in links for word in ("-isystem" if link.startswith("system") else "-I", link)]
        fixed = ["-ptx", "-lineinfo", "-allow-unsupported-compiler", f"-arch={architecture}", *more]
        command = [str(self.program), "-ccbin", str(self.host), *fixed, *folders, "-o", PTX, SOURCE]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, errors="replace", check=False)
        return (done.stderr + done.stdout).strip() or f"nvcc ended with exit status {done.returncode}"


def _source(text: str, name: Path, options: CudaOptions, kernels: Sequence[str]) -> str:
    """What nvcc compiles: macros, the source, instances of templates."""
    macros = (macro.partition("=") for macro in options.define)
    defined = "".join(f"#define {macro} {value if equals else 1}\n" for macro, equals, value in macros)
    body = f'#include "{name}"\n' if name.is_file() else f'#line 1 "{name}"\n{text}\n'
    return defined + body + instantiation(kernels)


def _linked(place: Path, kind: str, folders: Iterable[str]) -> dict[str, str]:
    """Links to folders, by name."""
    links = {f"{kind}{number}": folder for number, folder in enumerate(folders)}
    for link, folder in links.items():
        (place / link).symlink_to(folder)
    return links


def _told(text: str, place: Path, links: Mapping[str, str]) -> str:
    """A text of the compiler with the names of folders in place of the links."""

    def folder(found: re.Match[str]) -> str:
        return f"{links[found[1]]}/" if found[1] in links else found[0]

    return re.sub(rf"(?<![\w/])(?:{re.escape(str(place))}/)?((?:include|system|own)\d+)/", folder, text)


def host_compiler() -> Path | None:
    """The host compiler that nvcc is given, None without one."""
    found = next(filter(None, map(shutil.which, HOST_COMPILERS)), None)
    return Path(found) if found else None


@functools.cache
def _program() -> Path | None:
    found = (root / f"cu{MAJOR}" / "bin" / "nvcc" for root in roots())
    return next((path for path in found if os.access(path, os.X_OK)), None)


def find_nvcc() -> Nvcc | None:
    """nvcc of the extra with a host compiler, None if one of the two is missing."""
    program, host = _program(), host_compiler()
    return Nvcc(program, host) if program and host else None
