"""The arrays of the core: everything that it reads and changes."""

from __future__ import annotations

from typing import NamedTuple

from warpreg.timing.core.columns import machine
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.core.typed import Array, Clock, LineRow, Machine, Pc, Rows, SmRow, Table, TeamRow, Words

FRONT = -(-machine.COUNT // HOST_LINE) * HOST_LINE
"""Words before the first row, which hold the machine."""


class Core(NamedTuple):
    """Arrays of the core, int64 unless stated otherwise.

    Threads that step the SMs together have the same arrays, but for the ``clock``.
    """

    machine: Words[Machine]
    """The machine: parameters of the SM, in front of ``table`` in the same memory."""
    code: Table[Pc]
    """A row for each instruction."""
    lists: Array
    """(register, operand row, bank) of sources, (cell, operand row, bank) of results, and (first pc, end, 0) of basic
    blocks; the bank is that of slot 0 among those of its scheduler.
    """
    slab: Array
    """Visits of basic blocks, access records, and where those of each warp begin."""
    table: Table[SmRow]
    """A row for each SM. In the same memory follow, from machine[FIRST_...] on, rows of warps, schedulers with their
    stall accounts, groups of collectors, collectors, banks, resident thread blocks, units of pipes, and operations;
    each component has a width of its own.
    """
    rows: Rows
    """That memory with a row starting at each word: a `Row` is the number of words before it, so that ``rows[row,
    column]`` needs no multiplication.
    """
    wheel: Array
    """First and last entry of each bucket of the timing wheel, and the warp slots to be checked then."""
    units: Array
    """The cycle in which each function unit is free."""
    sequences: Array
    """The order of issue of what each collector holds."""
    clock: Words[Clock]
    """State of the whole run, and its counters; each thread has its own."""
    team: Table[TeamRow]
    """What threads share."""
    turns: Array
    """By SM: when it must be stepped or receive a thread block, as in `warpreg.timing.sm.team`; NEVER: not before
    UNTIL.
    """
    lines: Table[LineRow]
    """By SM, what its caches for instructions and constants know of each line that the kernel names."""


IN_FRONT = tuple(
    (Core._fields.index(name), Core._fields.index("rows"), distance)
    for name, distance in (("machine", FRONT), ("table", 0))
)
"""The arrays in the form that `piecewise_numba.bare_arrays.bare` accepts."""
