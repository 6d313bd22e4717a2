"""Errors of machine code: one line with the place, the expected and the found."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError


class MachineCodeError(WarpregError):
    """A cubin or listing that cannot be read, or code that cannot be lifted."""
