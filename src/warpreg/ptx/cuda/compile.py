"""Compiles CUDA C++ to PTX: with NVRTC, else, where that rejects a source, with nvcc and the system's host compiler.

Both take the headers of the installed wheels and the folders of the user.  Output is kept in the cache under a key of
everything that it depends on, included headers too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.cache import store
from warpreg.cache.sources import content_digest
from warpreg.ir.text_files import read_text
from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.headers import STAND_INS, IncludedHeaders, included, toolkit_folders, toolkit_versions
from warpreg.ptx.cuda.internal_names import independent
from warpreg.ptx.cuda.nvcc import Nvcc, find_nvcc
from warpreg.ptx.cuda.options import ARCHITECTURE, CudaOptionError, CudaOptions
from warpreg.ptx.cuda.templates import all_templates, qualified

KIND = "cuda"
"""The kind of entries in the cache."""

BUILT_IN_HEADER = "__nv_nvrtc_builtin_header.h"
"""File name of NVRTC's built-in declarations, such as those of textures, in ``.file`` directives."""

NAME_MAP = "__nv_name_map"
"""Where NVRTC says that errors in names of kernels are."""

FILE = re.compile(r'^(\s*\.file\s+\d+\s+")([^"\n]*)("[^\n]*)$', re.MULTILINE)
AS_IT_IS = CudaOptions()


@dataclass(frozen=True, slots=True)
class CompiledCuda:
    """PTX text; ``instances`` are the names in it of the kernels that were asked for, ``templates`` the kernel
    templates of the source, each with an example of its instantiation."""

    ptx: str
    instances: Mapping[str, str]
    templates: Mapping[str, str]


def compile_file(path: Path, options: CudaOptions = AS_IT_IS, kernels: Sequence[str] = ()) -> CompiledCuda:
    """The PTX of a ``.cu`` file, named as in `compile_cuda`."""
    return compile_cuda(read_text(path, errors="replace"), path.name, options, kernels, path.parent)


def compile_cuda(
    text: str,
    name: str,
    options: CudaOptions = AS_IT_IS,
    kernels: Sequence[str] = (),
    folder: Path | None = None,
) -> CompiledCuda:
    """The PTX of CUDA C++ with ``.loc`` lines that refer to the source.

    ``name`` is the file name in messages and ``.file`` directives, in ``folder`` or the working directory, where quoted
    includes are looked for.  ``kernels`` are templates to instantiate, ``fill<float>``.

    Raises `CudaCompileError` with the compiler's log, `CudaOptionError`, `KernelExpressionError`, or
    `CompilerMissingError` without the ``cuda`` extra.
    """
    source = (folder or Path()).resolve() / name
    chosen = flags(options)
    headers = included(text, source.parent, options.folders)
    sources = [text, *(content.decode(errors="replace") for content in headers.files.values())]
    known = all_templates(sources)
    nvcc = find_nvcc()
    key = None
    if headers.is_whole:
        key = _key(text, name, source, chosen, kernels, headers, nvcc)
    if key is not None and (kept := store.read(KIND, key)) is not None:
        ptx, names = json.loads(kept)
    else:
        wanted = [qualified(kernel, known) for kernel in kernels]
        ptx, lowered = _compiled(text, name, source, options, wanted, nvcc)
        ptx, *lowered = independent("\0".join([_with_short_names(ptx, name, source), *lowered])).split("\0")
        names = dict(zip(kernels, lowered, strict=True))
        if key is not None:
            store.write(KIND, key, json.dumps([ptx, names]).encode())
    return CompiledCuda(ptx, names, known)


def headers_of(path: Path, options: CudaOptions = AS_IT_IS) -> list[Path]:
    """The user's headers that a ``.cu`` file includes; none of a file that is missing or of another kind."""
    if path.suffix != ".cu" or not path.is_file():
        return []
    return list(included(read_text(path, errors="replace"), path.parent, options.folders).files)


def flags(options: CudaOptions) -> list[str]:
    """Flags of NVRTC.  Raises CudaOptionError for an architecture that they do not know."""
    found = ARCHITECTURE.fullmatch(options.architecture)
    known = nvrtc.architectures()
    if found is None or int(found[1]) not in known:
        expected = ", ".join(f"sm_{number}" for number in known)
        given = options.arch or options.architecture
        raise CudaOptionError(f"arch: expected one of {expected}, found '{given}'")
    folders = [f"-I{folder}" for folder in options.folders]
    return [f"-arch={options.architecture}", "-lineinfo", *folders, *(f"-D{macro}" for macro in options.define)]


def _key(
    text: str,
    name: str,
    source: Path,
    chosen: Sequence[str],
    kernels: Sequence[str],
    headers: IncludedHeaders,
    nvcc: Nvcc | None,
) -> str:
    contents = {str(path): content.decode(errors="surrogateescape") for path, content in headers.files.items()}
    versions = [nvrtc.nvrtc_version(), toolkit_versions(), nvcc.identity if nvcc else ()]
    parts = [name, str(source), list(chosen), list(kernels), contents, headers.missing, versions]
    return store.key_of(content_digest(), text, json.dumps(parts))


def _compiled(
    text: str, name: str, source: Path, options: CudaOptions, kernels: Sequence[str], nvcc: Nvcc | None
) -> tuple[str, list[str]]:
    """The PTX as the compiler has written it, with the names of the kernels."""
    system = [f"-I{folder}" for folder in (*toolkit_folders(), STAND_INS)]
    try:
        return nvrtc.compile_text(text, str(source), [*flags(options), *system], kernels)
    except CudaCompileError as error:
        log = error.log.replace(NAME_MAP, f"kernel {', '.join(kernels)}")
    if nvcc is not None:
        try:
            return nvcc.compile_text(text, source, options, kernels)
        except CudaCompileError as error:
            log = error.log
    searched = [str(source.parent), *options.folders, *map(str, toolkit_folders())]
    raise CudaCompileError(name, log.replace(str(source), name), searched, has_nvcc=nvcc is not None)


def _with_short_names(ptx: str, name: str, source: Path) -> str:
    """PTX with ``.file`` directives that do not depend on where the source and the wheels are."""
    folders = [str(source.parent), *map(str, (*toolkit_folders(), STAND_INS))]

    def shortened(match: re.Match[str]) -> str:
        file = match[2]
        if Path(file).name == BUILT_IN_HEADER:
            file = BUILT_IN_HEADER
        elif file == str(source):
            file = name
        else:
            inside = next((folder for folder in folders if file.startswith(f"{folder}/")), None)
            file = file[len(inside) + 1 :] if inside else file
        return f"{match[1]}{file}{match[3]}"

    return FILE.sub(shortened, ptx)
