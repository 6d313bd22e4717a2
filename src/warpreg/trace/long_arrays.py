"""Arrays of a recorded run that may be longer than memory: long ones are in a temporary file.

Pages of the file that the process has used leave its memory again within `PAUSE_S`, and the system may write them to
disk.  The memory of a process is therefore bounded, however long a run is.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.chunked import TraceError

Scalar = TypeVar("Scalar", bound=np.generic)

IN_MEMORY_BYTES = 256 << 20
"""Arrays of at most this size are ordinary ones: a file makes a timing run a tenth slower."""

PAUSE_S = 0.05

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
_starting = threading.Lock()
_releases = False


def empty(size: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """An array of ``size`` elements, not cleared.  Raises TraceError if there is no room for its file."""
    element = np.dtype(dtype)
    if size * element.itemsize <= IN_MEMORY_BYTES:
        return np.empty(size, element)
    mapped = _mapped_file(size * element.itemsize)
    _release_from_now_on(mapped)
    return np.frombuffer(mapped, element)


def zeros(size: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """The same, all zero, as a new file is."""
    if size * np.dtype(dtype).itemsize <= IN_MEMORY_BYTES:
        return np.zeros(size, dtype)
    return empty(size, dtype)


def joined(pieces: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
    """One or more pieces one after the other, as a new array.  Raises like `empty`."""
    whole = empty(sum(piece.size for piece in pieces), pieces[0].dtype.type)
    return np.concatenate(pieces, out=whole)


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
        raise TraceError(f"{where}: {error.strerror}") from error
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
