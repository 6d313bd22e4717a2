"""Locks between processes that share a cache, so that what several need at once is made once.

A lock is a byte of the file ``<cache>/lock``, chosen by the key (POSIX record locks): the system frees it when its
process dies.  Locks save work and nothing else: where they cannot be had, the work is done more than once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator

from warpreg.cache.directory import cache_directory
from warpreg.cache.trust import directory_refusal, entry_refusal

FILE = "lock"
OFFSETS = 1 << 40
POLL_S = 0.05
PATIENCE_S = 60.0
"""After so long the holder is taken for stopped.  A large core compiles in half of it."""


@contextlib.contextmanager
def held(key: str, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock of a key; go on without it after ``patience_s``, or where the cache has no locks."""
    descriptor = _file()
    if descriptor is None:
        yield
        return
    try:
        _acquire(descriptor, int(hashlib.sha256(key.encode()).hexdigest(), 16) % OFFSETS, patience_s)
        yield
    finally:
        os.close(descriptor)  # which frees the lock


def _file() -> int | None:
    directory = cache_directory()
    if directory_refusal(directory):
        return None
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / FILE
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    if entry_refusal(path):
        os.close(descriptor)
        return None
    return descriptor


def _acquire(descriptor: int, offset: int, patience_s: float) -> None:
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN) or time.monotonic() > end:
                return
            time.sleep(POLL_S)
        else:
            return
