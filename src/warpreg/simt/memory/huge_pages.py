"""Host memory in huge pages where the system offers them: scattered accesses then miss fewer translations."""

from __future__ import annotations

import contextlib
import mmap

import numpy as np
from numpy.typing import NDArray

LEAST_BYTES = 4 << 20
"""Smaller arrays are left to NumPy: two huge pages of Linux on x86-64."""


def zeroed(size: int) -> NDArray[np.uint8]:
    """``size`` bytes, all zero.  Raises MemoryError."""
    if size < LEAST_BYTES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(size, np.uint8)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"{size} bytes") from error
    with contextlib.suppress(OSError):  # a system that was built without them
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, np.uint8)
