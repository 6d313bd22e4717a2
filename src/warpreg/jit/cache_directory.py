"""Where compiled code is kept between processes."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


class CacheWarning(RuntimeWarning):
    """The disk does not take what would be kept; the run goes on without."""


def cache_directory() -> Path:
    """``WARPREG_CACHE`` if set, else the user's cache directory; may not exist yet."""
    chosen = os.environ.get("WARPREG_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("warpreg"))
