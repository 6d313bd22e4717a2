"""Program table: a kernel as arrays for hooks and cores, one row per static instruction.

Operands are flattened to warp-registers: a 64-bit operand is two, a 128-bit one four.  Predicates (guards included),
immediates, constant-bank words and special registers are not operands.  An instruction that names a register twice
reads it twice, because a collector fetches each operand separately.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_SLOTS = np.zeros(0, np.int64)
NO_SIGHT = np.zeros((0, 1), np.int64)
WAITS_FOR_NEEDED, WAITS_FOR_ALL = 1, 2
"""Values of ``suspends``: the warp is suspended until the long-latency results that the instruction accesses have
arrived (ISCA 2011, section 3.2), or all that are outstanding (MICRO 2011, section 4.1).
"""


class Program(NamedTuple):
    """Columns per block, per instruction (pc), per source operand and per result; ``*_start`` ends with the total.

    Hint columns, from ``source_level`` on and all uint8, are zero unless a design's compile step sets them.
    """

    register_count: int
    """Registers of a thread."""
    slots: int
    """Warp slots of an SM of the core that runs it, see ``placed``."""
    schedulers: int
    """Schedulers of an SM of that core."""
    first_pc: NDArray[np.int32]
    """int32 by block."""
    unit: NDArray[np.uint8]
    """uint8 by pc, a position in UNITS."""
    latency: NDArray[np.uint8]
    """uint8 by pc, a position in LATENCIES."""
    datapath: NDArray[np.uint8]
    """uint8 by pc, PRIVATE or SHARED."""
    guarded: NDArray[np.uint8]
    """uint8 flag by pc."""
    long_latency: NDArray[np.uint8]
    """uint8 flag by pc: texture and global loads, local loads, atomics with a result."""
    suspends: NDArray[np.uint8]
    """uint8 by pc.  Not 0: it may read or overwrite a long-latency result that no earlier instruction has waited for;
    what the warp waits for.  A design that decides where warps are descheduled may change it.
    """
    source_start: NDArray[np.int32]
    """int32 by pc."""
    source: NDArray[np.uint16]
    """uint16 by source, its register."""
    source_slot: NDArray[np.uint8]
    """uint8 by source, its operand position among the sources."""
    last_read: NDArray[np.uint8]
    """uint8 flag by source: on every path, for every lane of the warp, the value is dead afterwards."""
    result_start: NDArray[np.int32]
    """int32 by pc."""
    result: NDArray[np.uint16]
    """uint16 by result, its register."""
    source_level: NDArray[np.uint8]
    """Where the operand is read."""
    source_entry: NDArray[np.uint8]
    """The entry of that level."""
    result_level: NDArray[np.uint8]
    """Where the result is written."""
    result_entry: NDArray[np.uint8]
    """The entry of that level."""
    strand_end: NDArray[np.uint8]
    """By pc: a strand ends there."""
    fill_level: NDArray[np.uint8]
    """Where the source is also stored; level 0: nowhere."""
    fill_entry: NDArray[np.uint8]
    """The entry of that level."""
    copy_level: NDArray[np.uint8]
    """Where the result has a second entry above the MRF."""
    copy_entry: NDArray[np.uint8]
    """That entry."""
    mrf_elided: NDArray[np.uint8]
    """The result is not written to the MRF."""
    strand_start: NDArray[np.uint8]
    """By pc, a `warpreg.analysis.strands.Start`."""
    source_idle: NDArray[np.uint8]
    """Nothing reads the source's value before the warp may next suspend."""
    result_idle: NDArray[np.uint8]
    """Nothing reads the result before the warp may next suspend."""
    result_partial: NDArray[np.uint8]
    """A lane that is not written may need its old value."""
    hints: Any = 0
    """The columns of the design's own ``hints`` function, by name; 0 without one."""
    block_of_slot: NDArray[np.int64] = NO_SLOTS
    """int64 by warp slot of a core, if hooks ask for it, see `warpreg.designs.interface.thread_blocks`."""
    index_of_slot: NDArray[np.int64] = NO_SLOTS
    """int64 by warp slot, likewise."""
    seen: NDArray[np.int64] = NO_SIGHT
    """int64 by warp slot, what hooks see of warps, see `warpreg.designs.interface.turns`."""


REPLAY_SLOTS = 32
"""Maximum number of warps per thread block (1024 threads); a replay runs one thread block at a time."""
HINTS = (
    "source_level", "source_entry", "result_level", "result_entry", "strand_end", "fill_level", "fill_entry",
    "copy_level", "copy_entry", "mrf_elided", "strand_start", "suspends", "source_idle", "result_idle",
    "result_partial",
)  # fmt: skip


def placed(program: Program, slots: int, schedulers: int) -> Program:
    """The program for a core whose SMs have ``slots`` warp slots and ``schedulers`` schedulers."""
    return program._replace(slots=slots, schedulers=schedulers)


def read_only(program: Program) -> Program:
    """The program for code that may look at its columns and not write to them."""
    views: Any = [column.view() if isinstance(column, np.ndarray) else column for column in program]
    for view in views:
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
    return Program(*views)


def source_operands(program: Program, pc: int) -> range:
    """The source operands of an instruction: rows of the table, typed so that compiled code omits the sign check."""
    return range(np.int64(np.uint32(program.source_start[pc])), np.int64(np.uint32(program.source_start[pc + 1])))


def result_operands(program: Program, pc: int) -> range:
    """The results of an instruction, like ``source_operands``."""
    return range(np.int64(np.uint32(program.result_start[pc])), np.int64(np.uint32(program.result_start[pc + 1])))


def lengths(starts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The number of elements of each row, from where rows begin and the last one ends."""
    return starts[1:] - starts[:-1]


def operand_rows(program: Program) -> tuple[int, int]:
    """The largest numbers of sources and of results of an instruction."""
    sources, results = (lengths(starts).max(initial=0) for starts in (program.source_start, program.result_start))
    return int(sources), int(results)
