"""The program table: what hooks and cores read of a kernel, one row per static instruction, as arrays.

Operands are flattened to warp-registers: a 64-bit operand is two, a 128-bit one four.  Predicates, immediates,
constant-bank words and special registers are none.  An instruction that names a register twice reads it twice: a
collector fetches each operand by itself. A guard is a predicate, so it is no operand either; whether the guard held is
not in the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Program(NamedTuple):
    """Columns per block, per instruction (pc), per source operand and per result; ``*_start`` has one row more, the
    total.

    Per block: ``first_pc`` int32.  Per pc: ``unit`` and ``latency`` uint8 (positions in UNITS and LATENCIES),
    ``datapath`` uint8 (PRIVATE or SHARED), ``guarded``, ``long_latency`` (texture and global loads, local loads,
    atomics with a result) and ``suspends`` (may read or overwrite a long-latency result that no earlier instruction has
    waited for) as uint8 flags, ``source_start`` and ``result_start`` int32. Per source: ``source`` uint16 (register),
    ``source_slot`` uint8 (its operand position among the sources), ``last_read`` uint8 flag (on every path, for every
    lane of the warp, the value is dead afterwards).  Per result: ``result`` uint16. Hint columns, zero unless a
    design's compile step fills them: ``source_level`` and ``source_entry`` (where it comes from), ``fill_level`` and
    ``fill_entry`` (where it is kept besides; level 0: nowhere), ``result_level`` and ``result_entry`` (where it goes),
    ``copy_level`` and ``copy_entry`` (a second place above the MRF), ``mrf_elided`` (it does not go to the MRF) and,
    per pc, ``strand_end`` and ``strand_start`` (a `warpreg.analysis.strands.Start`); ``source_idle`` and
    ``result_idle`` (nothing reads the value before the warp may next suspend), ``result_partial`` (a lane that the
    write leaves out may need its old value), ``shared_reader`` of a result (the shared datapath may read it) and, per
    pc, ``backward`` (control may go back after it); all uint8.  ``suspends`` may be changed too, by a design that
    decides where warps are descheduled.

    ``slots`` (places for warps) and ``schedulers`` of an SM are those of the core that runs it, see ``placed``.
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
    shared_reader: NDArray[np.uint8]
    backward: NDArray[np.uint8]


REPLAY_SLOTS = 32
"""Warps of a thread block at most (1024 threads): a replay keeps those of one."""
HINTS = (
    "source_level", "source_entry", "result_level", "result_entry", "strand_end", "fill_level", "fill_entry",
    "copy_level", "copy_entry", "mrf_elided", "strand_start", "suspends", "source_idle", "result_idle",
    "result_partial", "shared_reader", "backward",
)  # fmt: skip


def placed(program: Program, slots: int, schedulers: int) -> Program:
    """The program for a core whose SMs have so many warp slots and schedulers."""
    return program._replace(slots=slots, schedulers=schedulers)


def source_operands(program: Program, pc: int) -> range:
    """The source operands of an instruction: rows of the table, which compiled code knows not to be negative."""
    return range(np.int64(np.uint32(program.source_start[pc])), np.int64(np.uint32(program.source_start[pc + 1])))


def result_operands(program: Program, pc: int) -> range:
    """The results of an instruction, in the same way."""
    return range(np.int64(np.uint32(program.result_start[pc])), np.int64(np.uint32(program.result_start[pc + 1])))


def operand_rows(program: Program) -> tuple[int, int]:
    """The most sources and the most results of an instruction."""
    sources, results = (np.diff(starts).max(initial=0) for starts in (program.source_start, program.result_start))
    return int(sources), int(results)
