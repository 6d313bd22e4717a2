"""A word that is wanted soon, so that the host's caches have it by then."""

from __future__ import annotations

from typing import Any

from warpreg.jit.natives import native
from warpreg.timing.core import intrinsics

HOST_LINE = 8
"""Words of 8 bytes in a cache line of the host."""


@native(intrinsics.prefetch)
def prefetch(words: Any, index: int) -> None:
    """A word of a one-dimensional array is read soon; there need not be one.  Nothing but time depends on it."""
