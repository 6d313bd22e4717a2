"""Prefetch of a word into the caches of the host."""

from __future__ import annotations

from typing import Any

from piecewise_numba.natives import native
from warpreg.timing.core import intrinsics

HOST_LINE = 8
"""Words of 8 bytes per cache line of the host."""


@native(intrinsics.prefetch)
def prefetch(words: Any, index: int) -> None:
    """Prefetch an element of a one-dimensional array; ``index`` may be out of bounds.  Has no effect on results."""
