"""The state of the package's own files, for entries that depend on all of them."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import warpreg

IGNORED = "__pycache__"


@functools.cache
def sources_state() -> str:
    """A digest of names, sizes and times of change of the package's files, and of its version."""
    digest = hashlib.sha256(warpreg.__version__.encode())
    for line in sorted(_files(Path(warpreg.__file__).parent)):
        digest.update(line.encode())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != IGNORED:
                yield from _files(Path(entry.path))
        else:
            about = entry.stat()
            yield f"{entry.path} {about.st_size} {about.st_mtime_ns}\n"
