"""Sends each result to memory and fetches it back before it is read: a value is in one entry of its warp, or away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", order="sm", events=("waits", "reports"), source="assumed: a test")
WAITS, REPORTS = 0, 1
NOTHING = -1
HERE, AWAY, COMING = range(3)


@dataclass(frozen=True)
class Parameters:
    """``packed``: registers of 32 bytes, four in a line of the design's own."""

    packed: int = w.parameter(0, unit="flag", low=0, high=1, source="assumed: a test")


class State(NamedTuple):
    where: NDArray[np.int64]  # [warp, register] HERE, AWAY or COMING
    packed: np.int64


def init(parameters: Parameters, program: w.Program) -> State:
    return State(w.per_warp(np.zeros(program.register_count, np.int64)), np.int64(parameters.packed))


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    waits = False
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        if state.where[warp, register] == AWAY:
            state.where[warp, register] = COMING
            if state.packed:
                w.fetch(plan, register, line=_line(warp, register), offset=register % 4 * 32, bytes=32)
            else:
                w.fetch(plan, register)
        waits = waits or state.where[warp, register] == COMING
    if waits:
        w.count(plan, WAITS)
        return warp
    return w.GO


@w.hook
def transferred(state: State, program: w.Program, warp: int, path: int, register: int, plan: w.Plan) -> None:
    w.count(plan, REPORTS)
    state.where[warp, register] = HERE
    w.wake(plan, warp)


@w.hook
def written_back(
    state: State, program: w.Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: w.Plan
) -> None:
    for operand in w.result_operands(program, pc):
        register = program.result[operand]
        if state.where[warp, register] != COMING:
            state.where[warp, register] = AWAY
            if state.packed:
                w.spill(plan, register, line=_line(warp, register), offset=register % 4 * 32, bytes=32)
            else:
                w.spill(plan, register)


def _line(warp: int, register: int) -> int:
    return warp * 64 + register // 4
