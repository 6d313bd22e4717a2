"""Location and size limit of the cache."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from warpreg.ir.errors import WarpregError, WarpregWarning

LIMIT_BYTES = 4 << 30
"""Default limit of the whole cache (assumed: the suite at every size with every design takes less than 1 GiB)."""


VARIABLE = "WARPREG_CACHE"
"""Environment variable that names another directory."""


class CacheWarning(WarpregWarning):
    """The cache cannot be used or written; the run continues without it."""


class CacheLimitError(WarpregError):
    """``WARPREG_CACHE_LIMIT`` is not a size."""


def cache_directory() -> Path:
    """``WARPREG_CACHE`` if set, else the user's cache directory; may not exist yet."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("warpreg"))


def limit_bytes() -> int:
    """``WARPREG_CACHE_LIMIT`` in MiB if set, else LIMIT_BYTES.  Raises CacheLimitError."""
    chosen = os.environ.get("WARPREG_CACHE_LIMIT")
    if not chosen:
        return LIMIT_BYTES
    if not chosen.isdecimal():
        raise CacheLimitError(f"WARPREG_CACHE_LIMIT: expected a number of MiB, found {chosen!r}")
    return int(chosen) << 20
