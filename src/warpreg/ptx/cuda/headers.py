"""Where headers are, and which of the user's a source includes.

Headers of the installed wheels (``nvidia/cu13/include`` and others) and of the host compiler do not change: versions
identify them.  The user's own are read anew each time, so an edit is seen.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

STAND_INS = Path(__file__).parent / "include"
"""Small headers of our own in place of those of the C library, which NVRTC does not have."""

MAJOR = 13
"""Version of CUDA whose wheels the ``cuda`` extra installs."""

DIRECTIVE = re.compile(
    rb'^[ \t]*#[ \t]*(?:include|include_next)\b[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*))', re.MULTILINE
)
WHEELS = {
    "nv/": "nvidia-cuda-cccl",
    "cuda/": "nvidia-cuda-cccl",
    "cub/": "nvidia-cuda-cccl",
    "thrust/": "nvidia-cuda-cccl",
    "cublas": "nvidia-cublas",
    "cufft": "nvidia-cufft",
    "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver",
    "cusparse": "nvidia-cusparse",
    "cudnn": "nvidia-cudnn-cu13",
    "nccl": "nvidia-nccl-cu13",
    "npp": "nvidia-npp",
    "nvjpeg": "nvidia-nvjpeg",
    "nvtx3/": "nvidia-nvtx",
    "cuda_profiler_api.h": "nvidia-cuda-profiler-api",
    "cudaProfiler.h": "nvidia-cuda-profiler-api",
}
"""Beginning of a header's name to the wheel that has it."""


def wheel_of(header: str) -> str | None:
    """The wheel that installs a header of NVIDIA's libraries, None for other headers."""
    return next((wheel for start, wheel in WHEELS.items() if header.startswith(start)), None)


@functools.cache
def roots() -> tuple[Path, ...]:
    """The ``nvidia`` folders of the Python environment."""
    found = importlib.util.find_spec("nvidia")
    return tuple(Path(place) for place in (found.submodule_search_locations or ())) if found else ()


@functools.cache
def toolkit_folders() -> tuple[Path, ...]:
    """The folders of the installed wheels with headers, in the order in which they are searched."""
    own = [root / f"cu{MAJOR}" / "include" for root in roots()]
    others = [path for root in roots() for path in sorted(root.glob("*/include")) if path.parent.name[:2] != "cu"]
    return tuple(path for one in (*own, *others) for path in (one, one / "cccl") if path.is_dir())


@functools.cache
def toolkit_versions() -> tuple[str, ...]:
    """Names with versions of NVIDIA's wheels in the environment."""
    return tuple(sorted(path.name for root in roots() for path in root.parent.glob("nvidia_*.dist-info")))


@dataclass(frozen=True, slots=True)
class IncludedHeaders:
    """The user's headers that a source may include, by path, with their contents; what was not found by name.

    ``is_whole``: no directive names a macro in place of a header.
    """

    files: dict[Path, bytes]
    missing: tuple[str, ...]
    is_whole: bool


def included(text: str, folder: Path, include: Sequence[str]) -> IncludedHeaders:
    """The headers of a source in ``folder`` and all that they include, whatever the conditions around directives.

    A name in angle brackets is looked for beside the file, too: one header too many does no harm.
    """
    files: dict[Path, bytes] = {}
    missing: dict[str, None] = {}
    is_whole = True
    pending = [(text.encode(errors="replace"), folder)]
    while pending:
        content, place = pending.pop()
        for quoted, angled, macro in DIRECTIVE.findall(content):
            if macro:
                is_whole = False
                continue
            name = (quoted or angled).decode(errors="replace")
            places = [place, *map(Path, include)]
            header = next(_existing(name, places), None)
            if header is None:
                missing[name] = None
            elif header not in files:
                files[header] = header.read_bytes()
                pending.append((files[header], header.parent))
    return IncludedHeaders(files, tuple(missing), is_whole)


def _existing(name: str, places: Sequence[Path]) -> Iterator[Path]:
    return (path for place in places if (path := (place / name).resolve()).is_file())
