"""What the hardware of a staging unit keeps: where each register is, lines, warps, and the lines of the compressor.

A register of a warp is in one place: NOWHERE (it has no value that code may read), STAGED (in a line of the staging
unit), COMING (its line waits for memory), SAVED (in memory, in the line of the register) or PACKED (compressed, in a
line that it shares).  ``home`` is the place that also has the value of a register that is staged and not dirty.

A line is *held* while a region needs it.  Other lines with a value may be taken by any region; if they are dirty, their
value is written to memory then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import Program
from warpreg.designs.interface.state import per_sm, per_warp

NOWHERE, STAGED, COMING, SAVED, PACKED = range(5)
"""Places of a register."""
WHERE, HOME, LINE, DIRTY, HELD, WRITING, REGULAR, UNREAD = range(8)
"""Columns of a register: its place; a place that has its value too; its line, NO_LINE without one; whether the line
differs from memory; whether its region holds the line; results that are not written yet; whether its lanes follow a
pattern; whether nothing reads it.
"""
NO_LINE = -1
IDLE, WANTING, LOADING, ACTIVE, DRAINING = range(5)
"""Phases of a warp: between regions; its next region waits for lines; its preloads are under way; it may issue; it has
issued all of the region, and results are not written.
"""
PHASE, HEAD, STAMP, MISSING, PENDING, BLOCKED = range(6)
"""Columns of a warp: its phase; the first instruction of its next region; when it asked for it; preloads and results
that are under way; whether it may wait for other warps.
"""
OWNER, AGE = range(2)
"""Columns of a line: the register that it holds (`tag_of`), FREE without one; when that was last held."""
FREE = -1
TAG, VALID, CHANGED, USED = range(4)
"""Columns of a line of the compressor: which one it is, FREE without one; the registers that it has, and those that
memory does not have, a bit each; when it was last used.
"""
PACKED_REGISTERS = 16
"""Registers in a line of packed ones: 8 bytes each, two bases of 4 bytes."""
PACKED_BYTES = 8
PACKED_LINES = 256 // PACKED_REGISTERS
"""Packed lines of a warp slot."""
COMMITTED, CLOCK = 0, 0


class State(NamedTuple):
    """The state of the hooks."""

    enabled: bool
    banks: int
    """Banks of a staging unit."""
    lines: int
    """Lines of each."""
    compresses: bool
    youngest_first: bool
    """Of warps that wait for lines, the one that asked last is first."""
    registers: NDArray[np.int64]  # [warp, register, column]
    warps: NDArray[np.int64]  # [warp, column]
    reserved: NDArray[np.int64]  # [warp, class of registers] lines
    unit: NDArray[np.int64]  # [sm, bank * lines + line, column]
    committed: NDArray[np.int64]  # [sm, bank] lines
    compressor: NDArray[np.int64]  # [sm, line, column]
    clock: NDArray[np.int64]  # [sm, 0] counts what asks and what is released


@dataclass(frozen=True)
class Size:
    """Of the staging unit of an SM."""

    banks: int
    lines: int
    compressor_lines: int


def nothing_staged(program: Program, size: Size, enabled: bool, compresses: bool, youngest_first: bool) -> State:
    """An empty staging unit for each SM."""
    register = np.zeros((max(1, program.register_count), 8), np.int64)
    register[:, LINE] = NO_LINE
    lines = np.zeros((size.banks * size.lines, 2), np.int64)
    lines[:, OWNER] = FREE
    packed = np.zeros((max(1, size.compressor_lines), 4), np.int64)
    packed[:, TAG] = FREE
    return State(
        enabled,
        size.banks,
        size.lines,
        compresses,
        youngest_first,
        per_warp(register),
        per_warp(np.zeros(6, np.int64)),
        per_warp(np.zeros(size.banks, np.int64)),
        per_sm(lines),
        per_sm(np.zeros(size.banks, np.int64)),
        per_sm(packed),
        per_sm(np.zeros(1, np.int64)),
    )


def tag_of(warp: int, register: int) -> int:
    """The number of a register of a warp in the tags of the unit."""
    return warp << 8 | register


def bank_of(state: Any, program: Program, warp: int, register: int) -> int:
    """The bank of a register: warps begin at different ones."""
    bank: int = (register + warp % program.slots) % state.banks
    return bank
