"""Arrays of a recorded run that may be longer than memory: long ones are in a temporary file.

Pages of the file that the process has used leave its memory again within `PAUSE_S`, and the system may write them to
disk.  The memory of a process therefore does not grow with the length of a run.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence

import numpy as np

from warpreg.timing.core.columns.typed import Array
from warpreg.timing.errors import TimingError

IN_MEMORY_WORDS = 1 << 22
"""Arrays of at most this length, 32 MB, are ordinary ones."""

PAUSE_S = 0.05
WORD_BYTES = 8

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
_starting = threading.Lock()
_releases = False


def empty(words: int) -> Array:
    """An array of ``words``, not cleared.  Raises TimingError if there is no room for its file."""
    if words <= IN_MEMORY_WORDS:
        return np.empty(words, np.int64)
    mapped = _mapped_file(words * WORD_BYTES)
    _release_from_now_on(mapped)
    return np.frombuffer(mapped, np.int64)


def joined(pieces: Sequence[Array]) -> Array:
    """The pieces one after the other, as a new array.  Raises like `empty`."""
    return np.concatenate(pieces, out=empty(sum(piece.size for piece in pieces)))


def _mapped_file(size: int) -> mmap.mmap:
    """A temporary file of ``size`` bytes, mapped.

    Its blocks are reserved: a full disk is an error here, not later.  Without the advice, the system may map 2 MB
    around each page that is used.
    """
    try:
        with tempfile.TemporaryFile(prefix="warpreg-") as file:
            os.posix_fallocate(file.fileno(), 0, size)
            mapped = mmap.mmap(file.fileno(), size)
    except OSError as error:
        where = f"{size >> 20} MB of the run cannot be written to {tempfile.gettempdir()}"
        raise TimingError(f"{where}: {error.strerror}") from error
    mapped.madvise(mmap.MADV_RANDOM)
    return mapped


def _release_from_now_on(mapped: mmap.mmap) -> None:
    """Release the pages of this file, too, as long as it is in use."""
    global _releases
    with _starting:
        _mapped.add(mapped)
        if not _releases:
            _releases = True
            threading.Thread(target=_release, name="release pages", daemon=True).start()


def _release() -> None:
    """Take the pages of all files from the memory of the process, again and again, until no file is in use."""
    global _releases
    while True:
        time.sleep(PAUSE_S)
        with _starting:
            files = list(_mapped)
            if not files:
                _releases = False
                return
        for mapped in files:
            mapped.madvise(mmap.MADV_DONTNEED)
        del files, mapped
