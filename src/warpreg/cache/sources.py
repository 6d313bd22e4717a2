"""The package's own files, for entries that depend on them: their state on this disk, and their content."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import warpreg

IGNORED = "__pycache__"
CONTENT = (".py", ".toml", ".ptx", ".cu", ".csv", ".json")
"""Files that results depend on."""


@functools.cache
def sources_state() -> str:
    """A digest of names, sizes and times of change of the package's files, and of its version."""
    digest = hashlib.sha256(warpreg.__version__.encode())
    for line in sorted(_files(Path(warpreg.__file__).parent)):
        digest.update(line.encode())
    return digest.hexdigest()


@functools.cache
def sources_digest(without: tuple[str, ...] = ()) -> str:
    """A digest of the content of the package's files, but for those of some of its packages; with that of the version
    of Python and of NumPy.
    """
    from importlib.metadata import version  # takes a tenth of a light command's time

    root = Path(warpreg.__file__).parent
    digest = hashlib.sha256(f"{sys.version}\0{version('numpy')}".encode())
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.suffix in CONTENT and inside.parts[0] not in without:
            digest.update(f"{inside.as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != IGNORED:
                yield from _files(Path(entry.path))
        else:
            about = entry.stat()
            yield f"{entry.path} {about.st_size} {about.st_mtime_ns}\n"
