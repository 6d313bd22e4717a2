"""NVRTC, NVIDIA's run-time compiler: a source without host code to PTX."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from warpreg.ptx.cuda.errors import CompilerMissingError, CudaCompileError


def compile_text(
    text: str,
    name: str,
    flags: Sequence[str],
    kernels: Sequence[str] = (),
    headers: Mapping[str, bytes] | None = None,
) -> tuple[str, list[str]]:
    """PTX of a source text, and the names in it of ``kernels``, templates with arguments that are instantiated.

    ``name`` is the path of the file of the source, which need not exist.  ``headers`` are texts by the names under
    which sources include them; others are looked for on disk.

    Raises `CudaCompileError` with NVRTC's log, `CompilerMissingError` without the ``cuda`` extra.
    """
    nvrtc = _nvrtc()
    texts, names = list((headers or {}).values()), [one.encode() for one in headers or ()]
    status, program = nvrtc.nvrtcCreateProgram(text.encode(), name.encode(errors="replace"), len(names), texts, names)
    _expect_success(nvrtc, status, name)
    try:
        for kernel in kernels:
            (status,) = nvrtc.nvrtcAddNameExpression(program, kernel.encode())
            _expect_success(nvrtc, status, name)
        options = [flag.encode() for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CudaCompileError(name, _log(nvrtc, program) or _describe(nvrtc, status))
        return _ptx(nvrtc, program, name), [_lowered(nvrtc, program, name, kernel) for kernel in kernels]
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def nvrtc_version() -> tuple[int, int]:
    """Major and minor version of the installed NVRTC; raises `CompilerMissingError` without the ``cuda`` extra."""
    nvrtc = _nvrtc()
    status, major, minor = nvrtc.nvrtcVersion()
    _expect_success(nvrtc, status, "NVRTC")
    return int(major), int(minor)


def architectures() -> tuple[int, ...]:
    """The architectures that NVRTC compiles for, 80 for ``sm_80``."""
    nvrtc = _nvrtc()
    status, found = nvrtc.nvrtcGetSupportedArchs()
    _expect_success(nvrtc, status, "NVRTC")
    return tuple(sorted(int(one) for one in found))


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
    return buffer.rstrip(b"\0").decode()


def _lowered(nvrtc: ModuleType, program: Any, name: str, kernel: str) -> str:
    status, lowered = nvrtc.nvrtcGetLoweredName(program, kernel.encode())
    _expect_success(nvrtc, status, name)
    return bytes(lowered).decode()


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
