"""Entries of the cache: written atomically, verified when read, bounded in total size, and optional.

An entry is the file ``<cache>/<kind>/<key>``: the SHA-256 of its content (32 bytes), then the content.  Damaged machine
code would crash instead of raising an error, so an entry with a wrong checksum counts as missing.  When the cache
exceeds its limit, the least recently used entries are deleted, but for results.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpreg.cache.directory import CacheWarning, cache_directory, limit_bytes
from warpreg.cache.jobs import FOLDER
from warpreg.cache.trust import directory_refusal, entry_refusal

DIGEST_BYTES = 32
RESULTS = "results"
"""The kind that no eviction deletes: small, and long to compute."""
UNFINISHED = ".new-"
"""What the names of files begin with that are being written."""
ABANDONED_S = 3600.0
"""A file is being written for so long at most; an older one is left of a process that was killed."""
KEPT_SHARE = 0.8
"""Fraction of the limit that an eviction keeps, so that not every write evicts."""

_grown: dict[Path, int] = {}
"""Estimated bytes per cache directory in this process: counted at the first write, then incremented."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache; ``used`` is the time of its last use in seconds."""

    path: Path
    size_bytes: int
    used: float

    @property
    def kind(self) -> str:
        """Its kind: the name of its folder."""
        return self.path.parent.name


def key_of(*parts: str) -> str:
    """The key of a result that is made from these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(kind: str, key: str) -> bytes | None:
    """The content of an entry; None if it is missing, damaged, or refused with a warning."""
    directory = _usable()
    if directory is None:
        return None
    path = directory / kind / key
    try:
        refused = entry_refusal(path.parent) or entry_refusal(path)
        data = b"" if refused else path.read_bytes()
    except OSError:
        return None
    if refused:
        _warn(f"cache entry not used: {refused}")
        return None
    content = _verified(data)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def write(kind: str, key: str, content: bytes) -> bool:
    """Store an entry atomically; returns whether it is stored.  A disk error causes one warning."""
    directory = _usable()
    if directory is None:
        return False
    path = directory / kind / key
    try:
        _write_atomically(path, hashlib.sha256(content).digest() + content)
        if kind != RESULTS:
            _bound(directory, len(content) + DIGEST_BYTES)
    except OSError as error:
        _warn(f"nothing is kept in cache {directory}: {error.strerror}")
        return False
    return True


def entries() -> list[Entry]:
    """Every entry of the cache, the least recently used first."""
    return entries_of(cache_directory())


def entries_of(folder: Path) -> list[Entry]:
    """Every entry of a folder with the layout of the cache, the least recently used first."""
    return sorted(_entries(folder), key=lambda entry: entry.used)


def is_sound(entry: Entry) -> bool:
    """Whether an entry is the user's own and has the content that was written."""
    try:
        return entry_refusal(entry.path) is None and _verified(entry.path.read_bytes()) is not None
    except OSError:
        return False


def remove(entry: Entry) -> None:
    """Delete an entry; a missing one is not an error.  Raises OSError."""
    entry.path.unlink(missing_ok=True)


def _usable() -> Path | None:
    """The cache directory, None if it is refused."""
    directory = cache_directory()
    refused = directory_refusal(directory)
    if refused:
        _warn(f"cache {directory} not used: {refused}")
        return None
    return directory


def content_of(path: Path) -> bytes | None:
    """The content of an entry's file; None if it is missing or damaged."""
    try:
        return _verified(path.read_bytes())
    except OSError:
        return None


def _verified(data: bytes) -> bytes | None:
    digest, content = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write_atomically(path: Path, data: bytes) -> None:
    """Create a file that only the user can access (mode 0600), with its folders."""
    for folder in (path.parent.parent, path.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _bound(directory: Path, added_bytes: int) -> None:
    """Add to the estimated size, and evict entries if it exceeds the limit."""
    if directory not in _grown:
        _grown[directory] = sum(entry.size_bytes for entry in _evictable(directory))
    else:
        _grown[directory] += added_bytes
    if _grown[directory] <= limit_bytes():
        return
    kept = sorted(_evictable(directory), key=lambda entry: entry.used)
    total = sum(entry.size_bytes for entry in kept)
    for entry in kept:
        if total <= KEPT_SHARE * limit_bytes():
            break
        remove(entry)
        total -= entry.size_bytes
    _grown[directory] = total


def _evictable(directory: Path) -> Iterator[Entry]:
    return (entry for entry in _entries(directory) if entry.kind != RESULTS)


def _entries(directory: Path) -> Iterator[Entry]:
    for path in directory.glob("*/*"):
        if path.parent.name == FOLDER:  # logs, which are no entries
            continue
        with contextlib.suppress(OSError):
            about = path.lstat()
            is_in_writing = path.name.startswith(UNFINISHED) and time.time() - about.st_mtime < ABANDONED_S
            if not is_in_writing:
                yield Entry(path, about.st_size, about.st_mtime)


@functools.cache
def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=4)
