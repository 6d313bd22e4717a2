"""State shared by the scanner and its Python callers: reasons to stop, scanner state, columns by static instruction."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_MASK = -1


class Stop(enum.IntEnum):
    """Why the scanner stopped, at the start of a line."""

    END = 0
    FULL = 1
    NEW = 2
    OTHER = 3
    """A line that is not an instruction."""
    BAD = 4


class At(enum.IntEnum):
    """Columns of the scanner's state."""

    TEXT = 0
    """First byte of the next line."""
    LINE = 1
    STEPS = 2
    """Words of steps written."""
    ADDRESSES = 3
    KEY = 4
    """Hash of an unknown instruction."""
    MASK = 5
    """Mask of the warp's last step."""
    COPY = 6
    """The static instruction of the previous line if it is a copy, else -1: a tracer writes one line for each of its
    two addresses.
    """
    COPY_RECORD = 7
    """Start of the record of that line."""
    SOURCE_LINES = 8
    """Whether lines begin with a source line number."""
    TRAILING = 9
    """Whether register values may follow the immediate."""
    EXECUTED = 10
    """Number of steps."""
    PHASE = 11
    """Position in the structure of the trace, a `Phase`."""
    WARPS = 12
    """Warps per thread block."""
    SEEN = 13
    """The warps of the current thread block so far, one bit each."""
    WARP = 14
    ANNOUNCED = 15
    """Number of instructions that the current warp announces."""
    LEFT = 16
    """Number of those not read yet."""
    LOCAL_TOP = 17
    """End of the used local memory of a thread."""
    COUNT = 18


class Phase(enum.IntEnum):
    """Position of a line in a trace."""

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
    SKIPPED = 6
    """In a thread block that is not selected."""


class Sites(NamedTuple):
    """Columns by static instruction: ``base`` and ``stride`` of the last record, and of the one before
    (``base_before``, ``stride_before``); ``unit``, bytes of a step between addresses, 0 without a record; ``window``,
    see `Window`; ``copies``, whether it has two addresses.
    """

    base: NDArray[np.uint64]
    stride: NDArray[np.int64]
    base_before: NDArray[np.uint64]
    stride_before: NDArray[np.int64]
    unit: NDArray[np.int64]
    window: NDArray[np.uint8]
    copies: NDArray[np.uint8]


def empty_sites(capacity: int) -> Sites:
    """Columns for ``capacity`` static instructions, all without a record."""
    base, stride, flags = np.zeros(capacity, np.uint64), np.zeros(capacity, np.int64), np.zeros(capacity, np.uint8)
    return Sites(base, stride, base.copy(), stride.copy(), stride.copy(), flags, flags.copy())


class Window(enum.IntEnum):
    """Memory windows that may contain the addresses of an instruction; such addresses become offsets or generic
    addresses of our executor.
    """

    NONE = 0
    SHARED = 1
    LOCAL = 2
    GENERIC = 3
