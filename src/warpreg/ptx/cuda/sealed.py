"""CUDA C++ to PTX without a file: for a text that another person may have written.

A source reads files by ``#include``, and messages of the compiler print lines of them.  Here, NVRTC gets the headers
that a source may include as texts, and while it compiles, the process can open no file (a limit of the operating
system), whatever the source says.
"""

from __future__ import annotations

import codecs
import re
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.compile import AS_IT_IS, FILE, CompiledCuda, flags
from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.headers import STAND_INS, toolkit_folders
from warpreg.ptx.cuda.internal_names import independent
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.ptx.cuda.templates import all_templates, qualified

NAMED = re.compile(
    rb'(?:^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*|\b__has_include[ \t]*\([ \t]*)(?:"([^"\n]+)"|<([^>\n]+)>)',
    re.MULTILINE,
)
"""A header that a source includes, or asks for."""
NO_HEADERS: Mapping[str, bytes] = MappingProxyType({})


def compile_sealed(
    text: str,
    name: str,
    options: CudaOptions = AS_IT_IS,
    kernels: Sequence[str] = (),
    own: Mapping[str, bytes] = NO_HEADERS,
) -> CompiledCuda:
    """The PTX of CUDA C++, as `compile_cuda` makes it; the source may include headers of NVIDIA's wheels and ``own``.

    Raises `CudaCompileError` with the compiler's log, also for any other header; and like `compile_cuda`.
    """
    known = all_templates([text, *(content.decode(errors="replace") for content in own.values())])
    wanted = [qualified(kernel, known) for kernel in kernels]
    chosen = flags(replace(options, include=()))
    headers = reachable(text, own)
    nvrtc.compile_text("", name, chosen)  # loads what NVRTC loads once
    try:
        with no_new_files():
            ptx, lowered = nvrtc.compile_text(text, name, chosen, wanted, headers)
    except CudaCompileError as error:
        raise CudaCompileError(name, error.log, ["the headers of NVIDIA's wheels"]) from error
    ptx, *lowered = independent("\0".join([_with_given_names(ptx), *lowered])).split("\0")
    return CompiledCuda(ptx, dict(zip(kernels, lowered, strict=True)), known)


def own_headers(path: Path, text: str, options: CudaOptions = AS_IT_IS) -> dict[str, bytes]:
    """The user's headers that a source at ``path`` includes now, by the names in its directives."""
    folders = [path.parent.resolve(), *map(Path, options.folders)]
    found: dict[str, bytes] = {}
    pending = [(text.encode(errors="replace"), folders[0])]
    while pending:
        content, place = pending.pop()
        for name, is_quoted in _names(content):
            places = (place, *folders) if is_quoted else folders
            header = next((one for folder in places if (one := folder / name).is_file()), None)
            if header is not None and name not in found:
                found[name] = header.read_bytes().removeprefix(codecs.BOM_UTF8)
                pending.append((found[name], header.parent))
    return found


def reachable(text: str, own: Mapping[str, bytes] = NO_HEADERS) -> dict[str, bytes]:
    """By the names in directives, the headers that a source can reach: ``own``, and those in the folders of the wheels.

    A name that leads out of these folders has no header.  Of two headers with the same name, the first one is taken.
    """
    folders = [folder.resolve() for folder in (*toolkit_folders(), STAND_INS)]
    found: dict[str, bytes] = {}
    pending: list[tuple[bytes, list[Path]]] = [(text.encode(errors="replace"), [])]
    while pending:
        content, beside = pending.pop()
        for name, is_quoted in _names(content):
            if name in found:
                continue
            if name in own:
                found[name] = own[name]
                pending.append((own[name], []))
            elif header := next(_inside(name, [*(beside if is_quoted else ()), *folders], folders), None):
                found[name] = header.read_bytes()
                pending.append((found[name], [header.parent]))
    return found


@contextmanager
def no_new_files() -> Iterator[None]:
    """Inside, the process can open no file; those that are open remain so."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def _with_given_names(ptx: str) -> str:
    """PTX with ``.file`` directives as the texts were named, without the working directory that NVRTC adds."""
    return FILE.sub(lambda found: f"{found[1]}{found[2].removeprefix(f'{Path.cwd()}/')}{found[3]}", ptx)


def _names(content: bytes) -> Iterator[tuple[str, bool]]:
    """The names of headers in a text; a quoted one is looked for beside the text first."""
    for quoted, angled in NAMED.findall(content):
        yield (quoted or angled).decode(errors="replace"), bool(quoted)


def _inside(name: str, places: Sequence[Path], folders: Sequence[Path]) -> Iterator[Path]:
    """The files of this name in ``places`` that are inside one of ``folders``."""
    for place in places:
        path = (place / name).resolve()
        if any(path.is_relative_to(folder) for folder in folders) and path.is_file():
            yield path
