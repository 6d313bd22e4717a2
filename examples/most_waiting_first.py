"""Most waiting first: warps of the thread block with most warps at a barrier issue first.

From barrier-aware warp scheduling (Liu et al., Barrier-Aware Warp Scheduling for Throughput Processors, ICS 2016): the
more warps of a thread block wait at a barrier, the sooner should the others of it arrive.  Critical-fetch-first, the
second half of that proposal, concerns the fetch of instructions and is not here.  Assumed: the warps count that wait
when the turns of a cycle begin; among equal thread blocks, the warp that issued last goes first, then the oldest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    BARRIER,
    NOBODY,
    Declaration,
    NoParameters,
    Plan,
    Program,
    age,
    can_issue,
    hook,
    index_in_block,
    per_scheduler,
    per_sm,
    per_warp,
    scheduler_of,
    sm_of,
    waits_for,
    warps_of,
)

DESIGN = Declaration(slot="policy", order="sm", source="Liu et al., ICS 2016: most waiting first (MWF)")


class State(NamedTuple):
    first: NDArray[np.int64]  # [SM] the first warp of the thread block that was placed last
    leader: NDArray[np.int64]  # [warp] the first warp of its thread block
    waiting: NDArray[np.int64]  # [warp] of a leader: warps of its thread block that wait at a barrier
    last: NDArray[np.int64]  # [scheduler] the warp that issued last


def init(parameters: NoParameters, program: Program) -> State:
    of_warps = per_warp(np.int64(0)), per_warp(np.int64(0))
    return State(per_sm(np.int64(0)), *of_warps, per_scheduler(np.int64(NOBODY)))


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    if index_in_block(program, warp) == 0:
        state.first[sm_of(program, warp)] = warp
    state.leader[warp] = state.first[sm_of(program, warp)]
    if state.last[scheduler_of(program, warp)] == warp:
        state.last[scheduler_of(program, warp)] = NOBODY


@hook
def turns_start(state: State, program: Program, scheduler: int, plan: Plan) -> None:
    if scheduler % program.schedulers == 0:  # the first of its SM
        first = scheduler // program.schedulers * program.slots
        for warp in range(first, first + program.slots):
            state.waiting[warp] = 0
    for warp in warps_of(program, scheduler):
        if waits_for(program, warp) == BARRIER:
            state.waiting[state.leader[warp]] += 1


@hook
def choose(state: State, program: Program, scheduler: int, plan: Plan) -> int:
    best = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp) and (best == NOBODY or goes_before(state, program, scheduler, warp, best)):
            best = warp
    return best


def goes_before(state: State, program: Program, scheduler: int, warp: int, other: int) -> bool:
    more = state.waiting[state.leader[warp]] - state.waiting[state.leader[other]]
    if more != 0:
        return bool(more > 0)
    if state.last[scheduler] == other:
        return False
    return bool(state.last[scheduler] == warp or age(program, warp) < age(program, other))


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.last[scheduler_of(program, warp)] = warp
