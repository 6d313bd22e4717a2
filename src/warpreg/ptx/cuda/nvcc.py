"""nvcc of the ``cuda`` extra, with a host compiler of the system: it takes whole programs with host code."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.headers import MAJOR, roots, toolkit_folders
from warpreg.ptx.cuda.templates import instances, instantiation

HOST_COMPILERS = ("g++", "clang++")
HEEDED = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH")
"""Environment variables that change what nvcc or the host compiler do."""

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
        self, text: str, name: Path, flags: Sequence[str], kernels: Sequence[str] = ()
    ) -> tuple[str, list[str]]:
        """PTX of a source text, and the names in it of ``kernels``, templates with arguments that are instantiated.

        ``name`` is the path of the file of the source.  Raises `CudaCompileError` with nvcc's log.
        """
        appended = instantiation(kernels)
        with tempfile.TemporaryDirectory(prefix="warpreg-") as folder:
            source = name
            if appended or not name.is_file():
                source = Path(folder) / "source.cu"
                start = f'#include "{name}"\n' if name.is_file() else f'#line 1 "{name}"\n{text}\n'
                source.write_text(start + appended, encoding="utf-8")
                flags = [*flags, *([] if name.is_file() else [f"-I{name.parent}"])]
            output = Path(folder) / "kernels.ptx"
            log = self._run(source, output, flags)
            if SEPARATE in log:
                log = self._run(source, output, [*flags, "-rdc=true"])
            if not output.is_file():
                raise CudaCompileError(str(name), log)
            return instances(output.read_text(encoding="utf-8"))

    def _run(self, source: Path, output: Path, flags: Sequence[str]) -> str:
        """Call nvcc; returns its messages."""
        system = [word for folder in toolkit_folders() for word in ("-isystem", str(folder))]
        host = ["-ccbin", str(self.host), "-allow-unsupported-compiler"]
        command = [str(self.program), "-ptx", *host, *flags, *system, "-o", str(output), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        return (done.stderr + done.stdout).strip() or f"nvcc ended with exit status {done.returncode}"


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
