"""What can be wrong with a timing run."""

from warpreg.ir.errors import WarpregError


class TimingError(WarpregError):
    """A run that cannot be timed: its recording is not of this kernel, lacks something, or the machine does not fit."""
