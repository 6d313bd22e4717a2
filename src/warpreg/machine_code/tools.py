"""NVIDIA's assembler and disassembler: ``ptxas`` and ``nvdisasm`` of the ``cuda`` extra; they need no GPU."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpreg.ir.errors import WarpregError

VERSION = re.compile(r"V(\d[\d.]*)")
LISTING_SECONDS = 300.0
"""Limit of the disassembler, which does not end on some damaged files; it lists a megabyte of code in seconds."""


class VendorToolMissingError(WarpregError):
    """A tool of the ``cuda`` extra that is not installed."""

    def __init__(self, tool: str) -> None:
        super().__init__(f"'{tool}' is not installed; it comes with an optional extra: pip install 'warpreg[cuda]'")


class VendorToolError(WarpregError):
    """A tool of the ``cuda`` extra rejected its input; the message ends with the tool's output."""


def find_tool(name: str) -> Path:
    """The executable in the installed NVIDIA wheels; raises `VendorToolMissingError`."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for found in (*Path(root).glob(f"*/bin/{name}"), *Path(root).glob(f"*/bin/{name}.exe")):
            return found
    raise VendorToolMissingError(name)


def ptxas_version() -> str:
    """The version of ``ptxas``, such as ``13.0.88``."""
    return version_of("ptxas")


@functools.cache
def version_of(tool: str) -> str:
    """The version of a tool.  Raises `VendorToolMissingError`."""
    found = VERSION.search(output_of([str(find_tool(tool)), "--version"]))
    return found[1] if found else "unknown"


def assembled(ptx: str, architecture: str, options: Sequence[str] = ()) -> bytes:
    """The cubin of PTX text.  Raises `VendorToolMissingError`, `VendorToolError`."""
    with tempfile.TemporaryDirectory(prefix="warpreg-ptxas-") as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx, encoding="utf-8")
        output_of([str(find_tool("ptxas")), f"-arch={architecture}", *options, "-o", str(cubin), str(source)])
        return cubin.read_bytes()


def disassembled(cubin: bytes, *, lines: bool = False) -> str:
    """The listing of a cubin with its encodings, and with the source ``lines`` that it knows.

    Raises `VendorToolMissingError`, `VendorToolError`.
    """
    with tempfile.TemporaryDirectory(prefix="warpreg-nvdisasm-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        return output_of(
            [str(find_tool("nvdisasm")), "-c", "-hex", *(["-g"] if lines else []), str(path)], LISTING_SECONDS
        )


def output_of(command: list[str], seconds: float | None = None) -> str:
    """The output of a tool on both streams; the last word is its input.  Raises `VendorToolError`, also if it runs
    longer than some ``seconds``."""
    tool, file = Path(command[0]).name, Path(command[-1]).name
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise VendorToolError(f"{tool} has not ended on {file} after {seconds:g} s") from error
    if done.returncode:
        raise VendorToolError(f"{tool} failed with status {done.returncode} on {file}:\n{done.stdout.strip()}")
    return done.stdout
