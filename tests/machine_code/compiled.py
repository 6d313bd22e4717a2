"""Kernels of PTX text as the vendor's machine code, lifted."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from warpreg.codegen import build_kernel
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.machine_code import cubin, listing
from warpreg.machine_code.lift import Code, lift
from warpreg.machine_code.tools import find_tool

ARCHITECTURES = ("sm_80", "sm_90")
TARGET = re.compile(r"^(\s*\.target\s+)\S+", re.MULTILINE)


def lifted(text: str, module: Module, architecture: str) -> list[Kernel]:
    """Every kernel of a module, whose text is given."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "code.ptx"), Path(folder, "code.cubin")
        source.write_text(TARGET.sub(rf"\g<1>{architecture}", text, count=1), encoding="utf-8")
        _output([str(find_tool("ptxas")), "-arch", architecture, "-lineinfo", str(source), "-o", str(binary)])
        disassembly = _output([str(find_tool("nvdisasm")), "-c", "-hex", str(binary)])
        file = cubin.read(binary.read_bytes(), "code")
    listed = listing.parse(disassembly)
    return [
        lift(Code(function, architecture, file), build_kernel(module, name))
        for name, function in listed.functions.items()
    ]


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
