"""Entries of the disk cache: written whole, verified when read, and done without where the disk does not allow them.

An entry is the SHA-256 of its content (32 bytes), then the content.  Damaged machine code would not raise but crash.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
import warnings
from pathlib import Path

from warpreg.jit.cache_directory import CacheWarning, cache_directory

DIGEST_BYTES = 32


def read(path: Path) -> bytes | None:
    """The content of an entry; None if there is none, or a damaged one."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def write(path: Path, content: bytes) -> None:
    """Keep an entry; no other process ever sees a part of it.  A disk that does not take it is worth one warning."""
    try:
        _write_atomically(path, hashlib.sha256(content).digest() + content)
    except OSError as error:
        _warn(f"compiled code is not kept in {cache_directory()}: {error.strerror}")


def _write_atomically(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@functools.cache
def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=4)
