"""Follows every value of a run from its write to its last read; runs in the replay core like a design.

A value is one write of a warp-register.  Each half of a 64-bit result is a value of its own.  A guarded or partially
masked write starts a new value too, because the register's old content is no longer what the warp would read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import MRF, Plan, Program, count, hook, per_warp, read, write

READS, LIFETIME, USE = 0, 4, 8
"""First event of each group: reads of a value 0, 1, 2, more; lifetime of a value read once 1, 2, 3, more instructions;
then for each datapath that produced it whether nobody, the private, the shared or both datapaths consumed it.
"""
EVENTS = 16


class Values(NamedTuple):
    """Per warp its instruction ``clock``; per register of it the value's write time (0: never), reads, last read time
    and datapaths.

    Bits of ``consumers`` are ``1 << datapath``.
    """

    clock: NDArray[np.int64]
    written: NDArray[np.int64]
    reads: NDArray[np.int64]
    last_read: NDArray[np.int64]
    producer: NDArray[np.uint8]
    consumers: NDArray[np.uint8]


def no_values(program: Program) -> Values:
    """What a fresh warp holds."""
    times = np.zeros(program.register_count, np.int64)
    datapaths = np.zeros(program.register_count, np.uint8)
    return Values(
        clock=per_warp(np.int64(0)),
        written=per_warp(times),
        reads=per_warp(times),
        last_read=per_warp(times),
        producer=per_warp(datapaths),
        consumers=per_warp(datapaths),
    )


@hook
def plan_reads(state: Values, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.clock[warp] += 1
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        register = program.source[operand]
        state.reads[warp, register] += 1
        state.last_read[warp, register] = state.clock[warp]
        state.consumers[warp, register] |= 1 << plan.datapath
        read(plan, operand, MRF)


@hook
def plan_write(state: Values, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        register = program.result[operand]
        end_value(state, warp, register, plan)
        state.written[warp, register] = state.clock[warp]
        state.reads[warp, register] = 0
        state.consumers[warp, register] = 0
        state.producer[warp, register] = plan.datapath
        write(plan, operand, MRF)


@hook
def warp_end(state: Values, program: Program, warp: int, plan: Plan) -> None:
    for register in range(program.register_count):
        end_value(state, warp, register, plan)


def end_value(state: Values, warp: int, register: int, plan: Plan) -> None:
    """Account for the value that a register holds, if it was ever written."""
    written = state.written[warp, register]
    if written > 0:
        reads = state.reads[warp, register]
        count(plan, READS + min(reads, 3))
        if reads == 1:
            count(plan, LIFETIME + min(state.last_read[warp, register] - written, 4) - 1)
        count(plan, USE + 4 * state.producer[warp, register] + state.consumers[warp, register])
