"""Compiles CUDA C++ to PTX with NVRTC, NVIDIA's run-time compiler: the optional ``cuda`` extra; needs no GPU."""

from __future__ import annotations

import importlib
import re
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from warpreg.ir.errors import WarpregError

DEFAULT_ARCHITECTURE = "compute_75"
"""The oldest virtual architecture that NVRTC 13 accepts: its PTX runs on the widest range of machines."""

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)

BUILT_IN_HEADER = "__nv_nvrtc_builtin_header.h"
"""File name of NVRTC's built-in declarations, such as those of textures, in ``.file`` directives."""


class CompilerMissingError(WarpregError):
    """CUDA C++ was given, but the compiler's wheels are not installed."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "compiling CUDA C++ needs NVRTC, which is an optional extra: pip install 'warpreg[cuda]'"
            f" (PTX files need no compiler). The import said: {reason}"
        )


class CudaCompileError(WarpregError):
    """NVRTC rejected a source; ``log`` is its output, with ``file(line)`` locations."""

    def __init__(self, name: str, log: str) -> None:
        self.name = name
        self.log = log
        super().__init__(f"{name} does not compile:\n{log}")


def compile_options(arch: str = DEFAULT_ARCHITECTURE) -> list[str]:
    """The options of `compile_cuda`: one virtual architecture, and ``.loc`` lines that refer to the source."""
    return [f"--gpu-architecture={arch}", "-lineinfo"]


def compile_cuda(source: str, name: str, arch: str = DEFAULT_ARCHITECTURE) -> str:
    """PTX text of the CUDA C++ ``source``.

    ``name`` is the file name in messages and ``.file`` directives; ``arch`` is a virtual architecture such as
    ``compute_75``. Raises `CudaCompileError` with NVRTC's log, or `CompilerMissingError` without the ``cuda`` extra.
    """
    nvrtc = _nvrtc()
    status, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(errors="replace"), 0, [], [])
    _expect_success(nvrtc, status, name)
    try:
        options = [option.encode() for option in compile_options(arch)]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CudaCompileError(name, _log(nvrtc, program) or _describe(nvrtc, status))
        return _ptx(nvrtc, program, name)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def included_files(source: Path) -> list[Path]:
    """The files that a source includes, and those that they include, each once.

    As NVRTC finds them, which gets the text of the source: in the current directory and beside a file that is included.
    """
    found: dict[Path, None] = {}
    left = [source]
    while left:
        text = left.pop().read_text(encoding="utf-8", errors="replace")
        for name in INCLUDE.findall(text):
            paths = [folder / name for folder in (Path(), *(file.parent for file in found))]
            new = [path for path in paths if path not in found and path.is_file()]
            found |= dict.fromkeys(new)
            left += new
    return list(found)


def nvrtc_version() -> tuple[int, int]:
    """Major and minor version of the installed NVRTC; raises `CompilerMissingError` without the ``cuda`` extra."""
    nvrtc = _nvrtc()
    status, major, minor = nvrtc.nvrtcVersion()
    _expect_success(nvrtc, status, "NVRTC")
    return int(major), int(minor)


def _nvrtc() -> ModuleType:
    """The binding, with its library loaded."""
    try:
        nvrtc = importlib.import_module("cuda.bindings.nvrtc")
        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:  # RuntimeError: the binding is there, the library it wraps is not
        raise CompilerMissingError(str(error)) from error
    return nvrtc


def _ptx(nvrtc: ModuleType, program: Any, name: str) -> str:
    status, size = nvrtc.nvrtcGetPTXSize(program)
    _expect_success(nvrtc, status, name)
    buffer = bytes(size)
    (status,) = nvrtc.nvrtcGetPTX(program, buffer)
    _expect_success(nvrtc, status, name)
    return _with_name_as_given(buffer.rstrip(b"\0").decode(), name)


def _with_name_as_given(ptx: str, name: str) -> str:
    """``ptx`` without the working directory that NVRTC puts before names in ``.file`` directives.

    These are a relative ``name`` and that of NVRTC's own header.
    """
    for file in (BUILT_IN_HEADER,) if PurePath(name).is_absolute() else (BUILT_IN_HEADER, name):
        ptx = re.sub(rf'(\.file\s+\d+\s+")[^"\n]*[/\\]({re.escape(file)}")', r"\1\2", ptx)
    return ptx


def _log(nvrtc: ModuleType, program: Any) -> str:
    status, size = nvrtc.nvrtcGetProgramLogSize(program)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS or size <= 1:
        return ""
    buffer = bytes(size)
    nvrtc.nvrtcGetProgramLog(program, buffer)
    return buffer.rstrip(b"\0").decode(errors="replace").strip()


def _describe(nvrtc: ModuleType, status: Any) -> str:
    return bytes(nvrtc.nvrtcGetErrorString(status)[1]).decode()


def _expect_success(nvrtc: ModuleType, status: Any, name: str) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CudaCompileError(name, _describe(nvrtc, status))
