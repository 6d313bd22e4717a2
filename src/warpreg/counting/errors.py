"""Errors of replay."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError


class ReplayError(WarpregError):
    """A path that does not match the kernel, or a design that replay cannot run."""
