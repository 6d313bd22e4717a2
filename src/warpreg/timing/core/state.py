"""The arrays of the core: everything that it reads and changes."""

from __future__ import annotations

from typing import NamedTuple

from warpreg.timing.core.columns import machine
from warpreg.timing.core.columns.typed import Array, Clock, LineRow, Machine, Pc, Rows, SmRow, Table, TeamRow, Words
from warpreg.timing.core.prefetch import HOST_LINE

FRONT = -(-machine.COUNT // HOST_LINE) * HOST_LINE
"""Words before the first row, which hold the machine."""


class Core(NamedTuple):
    """Arrays of the core, int64 unless stated otherwise.

    ``table`` has one row per SM.  In the same memory follow, from machine[FIRST_...] on, rows of warps, schedulers with
    their stall accounts, groups of collectors, collectors, banks, resident thread blocks, units of pipes, and
    operations; each component has a width of its own.  ``rows`` is that memory with a row starting at each word: a
    `Row` is the number of words before it, so ``rows[row, column]`` needs no multiplication.

    ``code`` has one row per instruction.  ``lists`` contains (register, operand row, bank) of sources, (cell, operand
    row, bank) of results, and (first pc, end, 0) of basic blocks; the bank is that of slot 0 among those of its
    scheduler.  ``slab`` contains visits, access records, and where those of each warp begin.  ``wheel`` contains first
    and last entry of each bucket and the warp slots to be checked then, ``units`` the cycle in which each function unit
    is free, and ``sequences`` the issue order of what each collector holds.

    Threads that step the SMs together have the same arrays, but for the ``clock``; the ``team`` is what they share.
    ``turns`` of SMs: when they must be stepped or receive a thread block, as in `warpreg.timing.sm.team`; NEVER: not
    before UNTIL.  ``lines``: by SM, what its caches know of each line of code.
    """

    machine: Words[Machine]
    code: Table[Pc]
    lists: Array
    slab: Array
    table: Table[SmRow]
    rows: Rows
    wheel: Array
    units: Array
    sequences: Array
    clock: Words[Clock]
    team: Table[TeamRow]
    turns: Array
    lines: Table[LineRow]


IN_FRONT = tuple(
    (Core._fields.index(name), Core._fields.index("rows"), distance)
    for name, distance in (("machine", FRONT), ("table", 0))
)
"""The arrays in the form that `piecewise_numba.bare_arrays.bare` accepts."""
