"""Errors of timing runs."""

from warpreg.ir.errors import WarpregError


class TimingError(WarpregError):
    """A run that cannot be timed: the recording is incomplete or not of this kernel, or the machine does not fit."""
