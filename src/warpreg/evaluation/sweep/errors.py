"""What stops a sweep."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError, WarpregWarning


class SweepError(WarpregError):
    """A study that cannot be measured; the message names the file and the entry, or what has failed."""


class SweepWarning(WarpregWarning):
    """What a sweep waits for, or a file that is no study."""
