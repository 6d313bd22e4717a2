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
WAITS_FOR_NEEDED, WAITS_FOR_ALL = 1, 2
"""Values of ``suspends``: the warp is suspended until the long-latency results that the instruction accesses have
arrived (ISCA 2011, section 3.2), or all that are outstanding (MICRO 2011, section 4.1).
"""


class Program(NamedTuple):
    """Columns per block, per instruction (pc), per source operand and per result; ``*_start`` ends with the total.

    Per block: ``first_pc`` int32.

    Per pc: ``unit`` and ``latency`` uint8 (positions in UNITS and LATENCIES); ``datapath`` uint8 (PRIVATE or SHARED);
    uint8 flags ``guarded`` and ``long_latency`` (texture and global loads, local loads, atomics with a result);
    ``suspends`` uint8 (not 0: it may read or overwrite a long-latency result that no earlier instruction has waited
    for; what the warp waits for); ``source_start`` and ``result_start`` int32.

    Per source: ``source`` uint16 (register); ``source_slot`` uint8 (its operand position among the sources);
    ``last_read`` uint8 flag (on every path, for every lane of the warp, the value is dead afterwards).  Per result:
    ``result`` uint16.

    Hint columns, all uint8, zero unless a design's compile step sets them: ``source_level`` and ``source_entry`` (where
    the operand is read), ``fill_level`` and ``fill_entry`` (where it is also stored; level 0: nowhere),
    ``result_level`` and ``result_entry`` (where it is written), ``copy_level`` and ``copy_entry`` (a second entry above
    the MRF), ``mrf_elided`` (not written to the MRF); ``source_idle`` and ``result_idle`` (nothing reads the value
    before the warp may next suspend), ``result_partial`` (a lane that is not written may need its old value); per pc,
    ``strand_end`` and ``strand_start`` (a `warpreg.analysis.strands.Start`).  A design that decides where warps are
    descheduled may change ``suspends`` too.

    ``hints`` are the columns of the design's own ``hints`` function, by name; 0 without one.

    ``slots`` (warp slots) and ``schedulers`` of an SM are those of the core that runs it, see ``placed``.

    Per warp slot of a core, if hooks ask for them: ``block_of_slot`` and ``index_of_slot``, see
    `warpreg.designs.interface.thread_blocks`.
    """

    register_count: int
    slots: int
    schedulers: int
    first_pc: NDArray[np.int32]
    unit: NDArray[np.uint8]
    latency: NDArray[np.uint8]
    datapath: NDArray[np.uint8]
    guarded: NDArray[np.uint8]
    long_latency: NDArray[np.uint8]
    suspends: NDArray[np.uint8]
    source_start: NDArray[np.int32]
    source: NDArray[np.uint16]
    source_slot: NDArray[np.uint8]
    last_read: NDArray[np.uint8]
    result_start: NDArray[np.int32]
    result: NDArray[np.uint16]
    source_level: NDArray[np.uint8]
    source_entry: NDArray[np.uint8]
    result_level: NDArray[np.uint8]
    result_entry: NDArray[np.uint8]
    strand_end: NDArray[np.uint8]
    fill_level: NDArray[np.uint8]
    fill_entry: NDArray[np.uint8]
    copy_level: NDArray[np.uint8]
    copy_entry: NDArray[np.uint8]
    mrf_elided: NDArray[np.uint8]
    strand_start: NDArray[np.uint8]
    source_idle: NDArray[np.uint8]
    result_idle: NDArray[np.uint8]
    result_partial: NDArray[np.uint8]
    hints: Any = 0
    block_of_slot: NDArray[np.int64] = NO_SLOTS
    index_of_slot: NDArray[np.int64] = NO_SLOTS


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
