"""Machine code for the kit: made once with the ``cuda`` extra, carried to a machine that has a GPU and no compiler."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from warpreg import simt, workloads
from warpreg.checks.gpu.request import visible
from warpreg.gpu_kit import memory_kernels
from warpreg.gpu_kit.launch_clocks import with_clocks
from warpreg.gpu_kit.microbenchmarks import MICROBENCHMARKS, unlike
from warpreg.gpu_kit.register_banks import CASES, patched, register_bank_ptx
from warpreg.ir.errors import WarpregError
from warpreg.machine_code.tools import VendorToolError, assembled, disassembled, ptxas_version

MANIFEST = "manifest.json"
SUFFIX = ".cubin.zst"
CLOCKED = ".clocked"
"""What the name of a workload has behind it where its kernels note when they ran."""


def prepare(folder: Path, architecture: str, begun: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """Write the machine code of all microbenchmarks and workloads to a folder, with a manifest.

    Raises `VendorToolMissingError` without the extra.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    texts = {f"micro-{one.name}": one.ptx() for one in MICROBENCHMARKS}
    texts["micro-probes"] = memory_kernels.TEXT
    for name in workloads.names():
        texts[name] = workload_ptx(name)
        texts[f"{name}{CLOCKED}"] = with_clocks(texts[name])
    meant = {f"micro-{one.name}": one for one in MICROBENCHMARKS}
    for name, text in texts.items():
        begun(name)
        try:
            cubin = assembled(text, architecture)
        except VendorToolError as error:
            failed[name] = str(error)[:500]
            continue
        reason = unlike(meant[name], disassembled(cubin)) if name in meant else ""
        if reason:
            failed[name] = reason
        else:
            _write(folder, name, cubin)
    plain = assembled(register_bank_ptx(), architecture)
    for number, case in enumerate(CASES):
        _write(folder, f"banks-{number}", patched(plain, case))
    manifest = {"architecture": architecture, "ptxas": ptxas_version(), "failed": failed}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return manifest


def workload_ptx(name: str) -> str:
    """The PTX of a workload with its variables visible to the driver."""
    workload = workloads.find(name)
    module = workload.module()
    buffers = simt.Device(module).variables.buffers
    names = [v.name for v in module.static_variables if v.unique_name in buffers and v.bytes]
    return visible(workload.ptx_text(), names)


def _write(folder: Path, name: str, cubin: bytes) -> None:
    (folder / f"{name}{SUFFIX}").write_bytes(zstandard.compress(cubin, 19))


def clocked(folder: Path, name: str) -> bytes:
    """The machine code of a workload whose kernels note when they ran; empty if it was not prepared."""
    is_there = (folder / f"{name}{CLOCKED}{SUFFIX}").is_file()
    return read(folder, f"{name}{CLOCKED}") if is_there else b""


def read(folder: Path, name: str) -> bytes:
    """The machine code of a microbenchmark or workload.  Raises WarpregError if it was not prepared."""
    path = folder / f"{name}{SUFFIX}"
    if not path.is_file():
        raise WarpregError(f"{path}: not prepared")
    return zstandard.decompress(path.read_bytes())
