"""Errors of recorded traces."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError


class SassTraceError(WarpregError):
    """A trace or list of traces that cannot be read; names file and line, what was expected and what was found."""
