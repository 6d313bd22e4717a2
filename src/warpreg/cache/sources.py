"""The package's own files, for entries that depend on them: their state on this disk, and their content."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import piecewise_numba
import warpreg

IGNORED = "__pycache__"
CONTENT = (".py", ".toml", ".ptx", ".cu", ".h", ".csv", ".json")
"""Files that results depend on."""


@functools.cache
def sources_state() -> str:
    """A digest of names, sizes and times of change of the package's files, and of its version."""
    digest = hashlib.sha256(warpreg.__version__.encode())
    for line in sorted(line for folder in _folders() for line in _files(folder)):
        digest.update(line.encode())
    return digest.hexdigest()


@functools.cache
def sources_digest(without: tuple[str, ...] = ()) -> str:
    """A digest of the content of the package's files, but for those of some of its packages; with that of the version
    of Python and of NumPy.
    """
    import numpy

    return hashlib.sha256(f"{sys.version}\0{numpy.__version__}\0{content_digest(without)}".encode()).hexdigest()


@functools.cache
def content_digest(without: tuple[str, ...] = ()) -> str:
    """A digest of the content of the package's files, but for those of some of its packages."""
    parts = (f"{name} {digest}" for name, digest in _digests().items() if name not in without)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _digests() -> dict[str, str]:
    """A digest of each module and each folder of the package, by name in order."""
    digests: dict[str, Any] = {}
    for root in _folders():
        for path in sorted(_contents(str(root))):
            inside = os.path.relpath(path, root).replace(os.sep, "/")
            name = inside.partition("/")[0] if root.name == warpreg.__name__ else root.name
            digest = digests.setdefault(name, hashlib.sha256())
            content = Path(path).read_bytes()
            digest.update(f"{inside}\0{len(content)}\0".encode())
            digest.update(content)
    return {name: digest.hexdigest() for name, digest in sorted(digests.items())}


def _folders() -> tuple[Path, Path]:
    """The folders of the two packages that every result depends on."""
    return Path(warpreg.__file__).parent, Path(piecewise_numba.__file__).parent


def _contents(folder: str) -> Iterator[str]:
    """The paths of the files that results depend on."""
    for entry in os.scandir(folder):
        if entry.name.endswith(CONTENT):
            yield entry.path
        elif entry.name != IGNORED and entry.is_dir():
            yield from _contents(entry.path)


def _files(folder: Path) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != IGNORED:
                yield from _files(Path(entry.path))
        else:
            about = entry.stat()
            yield f"{entry.path} {about.st_size} {about.st_mtime_ns}\n"
