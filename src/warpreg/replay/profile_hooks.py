"""Hooks that follow every value of a run from its write to its last read; run in the replay core like a design.

A value is one write of a warp-register.  Each half of a 64-bit result is a value.  A guarded or partially masked write
starts a new value too, because it replaces a part of the old one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import MRF, Plan, Program, count, hook, per_warp, read, write

BY_READS, BY_LIFETIME, BY_USE = 0, 4, 8
"""First event of each group: values read 0, 1, 2 or more times; values read once with a lifetime of 1, 2, 3 or more
instructions; then, per producing datapath, values consumed by none, the private, the shared or both datapaths.
"""
EVENTS = 16


class Values(NamedTuple):
    """``clock`` [warp] counts the instructions of each warp; ``value`` [warp, register, column] describes each
    register.

    Columns: time WRITTEN (0: never), number of READS, time of the LAST read, and USE, ``4 * producer`` plus a bit ``1
    << datapath`` for each consumer.
    """

    clock: NDArray[np.int64]
    value: NDArray[np.int64]


WRITTEN, READS, LAST, USE = range(4)


def no_values(program: Program) -> Values:
    """Initial state of a warp."""
    return Values(clock=per_warp(np.int64(0)), value=per_warp(np.zeros((program.register_count, 4), np.int64)))


@hook
def plan_reads(state: Values, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.clock[warp] += 1
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        register = program.source[operand]
        state.value[warp, register, READS] += 1
        state.value[warp, register, LAST] = state.clock[warp]
        state.value[warp, register, USE] |= 1 << plan.datapath
        read(plan, operand, MRF)


@hook
def plan_write(state: Values, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        register = program.result[operand]
        end_value(state, warp, register, plan)
        state.value[warp, register, WRITTEN] = state.clock[warp]
        state.value[warp, register, READS] = 0
        state.value[warp, register, USE] = 4 * plan.datapath
        write(plan, operand, MRF)


@hook
def warp_end(state: Values, program: Program, warp: int, plan: Plan) -> None:
    for register in range(program.register_count):
        end_value(state, warp, register, plan)


def end_value(state: Values, warp: int, register: int, plan: Plan) -> None:
    """Count the value that a register holds, if it was ever written."""
    written = state.value[warp, register, WRITTEN]
    if written > 0:
        reads = state.value[warp, register, READS]
        count(plan, BY_READS + min(reads, 3))
        if reads == 1:
            count(plan, BY_LIFETIME + min(state.value[warp, register, LAST] - written, 4) - 1)
        count(plan, BY_USE + state.value[warp, register, USE])
