"""The error of archives."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError


class ArchiveError(WarpregError):
    """What cannot be archived, unpacked or compared."""
