"""``warpreg explain --serve``: an explorer of a source in the browser."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import click

from warpreg import designs
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import CompileChoice, find_workload
from warpreg.ir.text_files import read_text
from warpreg.machine_code.assembler import ARCHITECTURES
from warpreg.machine_code.tools import VendorToolMissingError, find_tool
from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.errors import CompilerMissingError
from warpreg.ptx.cuda.sealed import own_headers
from warpreg.ptx.cuda.templates import is_instance
from warpreg.report.explorer.serve import exploring
from warpreg.report.explorer.subject import CUDA, OWN, PTX, Subject
from warpreg.report.loopback import MAX_BODY_BYTES

MAX_TEXT_BYTES = MAX_BODY_BYTES - (1 << 14)
"""What a request can contain beside the chosen options and designs."""
SUFFIXES = {".cu": CUDA, ".ptx": PTX}


def explore(subject: Subject, port: int, *, show: bool) -> None:
    """Serve the explorer of a source until Ctrl-C; ``show`` opens the browser."""
    with exploring(subject, port) as server:
        click.echo(f"{subject.name} is at {server.address}\nThe address is for you only. Ctrl-C ends the server.")
        server.run(show=show)


def subject_of(
    target: str, kernel: str | None, choice: CompileChoice, design_name: str | None, values: Mapping[str, Value]
) -> Subject:
    """What ``--serve`` shows of a kernel file or workload: its CUDA C++, or its PTX where there is no compiler.

    Raises click.UsageError for machine code, and for a source that no request can contain; `CompilerMissingError` for a
    user's CUDA C++ without the extra.
    """
    suffix = Path(target).suffix
    if suffix in SUFFIXES:
        subject = _of_file(Path(target), choice)
    elif suffix in ("", ".py", ".toml"):
        subject = _of_workload(target, choice)
    else:
        raise click.UsageError(f"--serve requires a source: a .cu or .ptx file, or a workload, not {target}")
    if (size := len(json.dumps(subject.text, ensure_ascii=False).encode(errors="replace"))) > MAX_TEXT_BYTES:
        raise click.UsageError(f"--serve takes sources of at most {MAX_TEXT_BYTES:,} bytes, {target} has {size:,}")
    kernels = (kernel,) if kernel else ()
    return dataclasses.replace(
        subject,
        kernels=kernels,
        instances=(*subject.instances, *(one for one in kernels if is_instance(one))),
        codes=(OWN, *(ARCHITECTURES if _has_assembler() else ())),
        designs=tuple(dict.fromkeys((*([design_name] if design_name else []), *designs.names()))),
        chosen={design_name: values} if design_name else {},
    )


def _of_file(path: Path, choice: CompileChoice) -> Subject:
    text, language = read_text(path, errors="replace"), SUFFIXES[path.suffix]
    headers = {}
    if language == CUDA:
        nvrtc.nvrtc_version()
        headers = own_headers(path, text, choice.cuda)
    return Subject(path.name, language, text, choice, headers=headers)


def _of_workload(name: str, choice: CompileChoice) -> Subject:
    workload = find_workload(name)
    path, own = workload.cuda_path, workload.cuda
    if not path.is_file() or not _has_compiler():
        return Subject(f"{workload.name}.ptx", PTX, workload.ptx_text(), choice)
    cuda = choice.cuda.over(own)
    text = read_text(path, errors="replace")
    chosen = dataclasses.replace(choice, include=cuda.include, define=cuda.define, arch=cuda.arch)
    headers = own_headers(path, text, cuda)
    return Subject(f"{workload.name}.cu", CUDA, text, chosen, instances=workload.templates, headers=headers)


def _has_compiler() -> bool:
    try:
        nvrtc.nvrtc_version()
    except CompilerMissingError:
        return False
    return True


def _has_assembler() -> bool:
    try:
        find_tool("ptxas"), find_tool("nvdisasm")
    except VendorToolMissingError:
        return False
    return True
