"""The arrays of the core: everything that it reads and changes."""

from __future__ import annotations

from typing import NamedTuple

from warpreg.timing.core.columns.typed import Array, Clock, Machine, Pc, Rows, SmRow, Table, Words

MACHINE_DISTANCE, CLOCK_DISTANCE = 96, 48
FRONT = MACHINE_DISTANCE
"""The machine and the clock lie so many words in front of the rows."""


class Core(NamedTuple):
    """All are int64 unless said otherwise.

    ``table`` has a row for each thing that changes: first the SMs, then from machine[FIRST_...] on warps, schedulers,
    their stall accounts, groups of collectors, collectors, banks, resident thread blocks, units of a pipe, and
    operations.  ``rows`` is the same memory, and a row of it begins at each word: a `Row` is the number of words in
    front of it, so ``rows[row, column]`` takes no multiplication.

    ``code``, and ``lists`` with (register, operand row, bank) of sources, (cell, operand row, bank) of results and
    (first pc, end, 0) of basic blocks, where the bank is that of slot 0 among those of its scheduler; ``slab``: visits,
    memory records, and where those of each warp begin; ``wheel``: first and last of what is due; ``units``: when each
    function unit is free; ``sequences``: when what each collector holds has issued.
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


IN_FRONT = tuple(
    (Core._fields.index(name), Core._fields.index("rows"), distance)
    for name, distance in (("machine", MACHINE_DISTANCE), ("clock", CLOCK_DISTANCE), ("table", 0))
)
"""As `warpreg.jit.bare_arrays.bare` takes it."""
