"""What the scanner and the Python around it share: why it stops, its state, its columns by static instruction."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_MASK = -1


class Stop(enum.IntEnum):
    """Why the scanner stopped; it stands at the beginning of a line then."""

    END = 0
    FULL = 1
    NEW = 2
    OTHER = 3
    """A line that is no instruction."""
    BAD = 4


class At(enum.IntEnum):
    """Places of the scanner's state."""

    TEXT = 0
    """The next line's first byte."""
    LINE = 1
    STEPS = 2
    """Words written of steps."""
    ADDRESSES = 3
    KEY = 4
    """Hash of an instruction that is not known."""
    MASK = 5
    """Mask of the warp's last step."""
    COPY = 6
    """The static instruction of the line before if it copies, else -1: a tracer writes a line for each of its two
    addresses."""
    COPY_RECORD = 7
    """Where the record of that line begins."""
    SOURCE_LINES = 8
    """Whether a line begins with the number of a line of source."""
    TRAILING = 9
    """Whether values of registers may follow the immediate."""
    EXECUTED = 10
    """Steps so far."""
    PHASE = 11
    """Where in the structure of the trace, a `Phase`."""
    WARPS = 12
    """Warps of a thread block."""
    SEEN = 13
    """The warps of the current thread block so far, a bit each."""
    WARP = 14
    ANNOUNCED = 15
    """Instructions that the current warp announces."""
    LEFT = 16
    """Those of them still to come."""
    LOCAL_TOP = 17
    """Where the local memory of a thread ends, as far as it is used."""
    COUNT = 18


class Phase(enum.IntEnum):
    """Where in a trace a line stands."""

    HEADER = 0
    OUTSIDE = 1
    """Between thread blocks."""
    BEGUN = 2
    """After ``#BEGIN_TB``."""
    BLOCK = 3
    """In a thread block, before its first warp."""
    WARP = 4
    """After a warp's number."""
    INSTRUCTIONS = 5


class Sites(NamedTuple):
    """Columns by static instruction: ``base`` and ``stride`` of the last record, those before it (``base_before``,
    ``stride_before``); ``unit``, bytes of a step between addresses, 0 without a record; ``window``, see `Window`;
    ``copies``, whether it has two addresses."""

    base: NDArray[np.uint64]
    stride: NDArray[np.int64]
    base_before: NDArray[np.uint64]
    stride_before: NDArray[np.int64]
    unit: NDArray[np.int64]
    window: NDArray[np.uint8]
    copies: NDArray[np.uint8]


def empty_sites(capacity: int) -> Sites:
    """Columns for so many static instructions, all without a record."""
    base, stride, flags = np.zeros(capacity, np.uint64), np.zeros(capacity, np.int64), np.zeros(capacity, np.uint8)
    return Sites(base, stride, base.copy(), stride.copy(), stride.copy(), flags, flags.copy())


class Window(enum.IntEnum):
    """Which addresses of an instruction may lie in the windows of shared and local memory, and become offsets (or
    generic addresses of ours)."""

    NONE = 0
    SHARED = 1
    LOCAL = 2
    GENERIC = 3
