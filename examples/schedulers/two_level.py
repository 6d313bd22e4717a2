"""Two levels: only the warps of an active set issue, greedy and then oldest; one leaves it to wait for memory.

The active set is the design's own, so the machine needs none.  The rules are those of two-level schedulers with
``suspend = "pending"``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    BARRIER,
    END,
    FENCE,
    LONG_RESULT,
    NOBODY,
    NOTHING,
    RESULT,
    TOKEN,
    Declaration,
    Plan,
    Program,
    age,
    can_issue,
    hook,
    is_fetched,
    next_pc,
    now,
    parameter,
    per_scheduler,
    per_warp,
    scheduler_of,
    thread_block,
    waits_for,
    warps_of,
)

DESIGN = Declaration(
    slot="policy", order="scheduler", source="the policy two-level of the timing rules (rfc §5.2), as a design"
)
NO_BLOCK = -2


@dataclass(frozen=True)
class Parameters:
    active: int = parameter(8, unit="warps", low=1, high=64, source="rfc §5.2: of a scheduler")
    swap: int = parameter(0, unit="cycles", low=0, high=64, source="assumed: none, as on the machine gebhart")


class State(NamedTuple):
    active: int
    swap: int
    block: NDArray[np.int64]  # [warp] its thread block if it is in the active set
    issues_from: NDArray[np.int64]  # [warp] the cycle from which on it may issue
    has_left: NDArray[np.uint8]  # [warp] 1: it has left the set at its next instruction
    last: NDArray[np.int64]  # [scheduler] the warp that issued last
    entered: NDArray[np.int64]  # [scheduler] the warp that entered the active set last


def init(parameters: Parameters, program: Program) -> State:
    of_warps = per_warp(np.int64(NO_BLOCK)), per_warp(np.int64(0)), per_warp(np.uint8(0))
    of_schedulers = per_scheduler(np.int64(NOBODY)), per_scheduler(np.int64(NOBODY))
    return State(parameters.active, parameters.swap, *of_warps, *of_schedulers)


def is_active(state: State, program: Program, warp: int) -> bool:
    return bool(state.block[warp] == thread_block(program, warp))


def room(state: State, program: Program, scheduler: int) -> int:
    taken = 0
    for warp in warps_of(program, scheduler):
        taken += is_active(state, program, warp)
    return state.active - taken


def enter(state: State, program: Program, warp: int, cycle: int) -> None:
    state.block[warp] = thread_block(program, warp)
    state.issues_from[warp] = cycle + 1 + state.swap
    state.entered[scheduler_of(program, warp)] = warp


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    scheduler = scheduler_of(program, warp)
    if state.last[scheduler] == warp:
        state.last[scheduler] = NOBODY
    if room(state, program, scheduler) > 0:
        enter(state, program, warp, now(plan))


@hook
def turns_start(state: State, program: Program, scheduler: int, plan: Plan) -> None:
    for warp in warps_of(program, scheduler):
        if is_active(state, program, warp) and leaves(state, program, warp):
            state.block[warp] = NO_BLOCK


def leaves(state: State, program: Program, warp: int) -> bool:
    reason = waits_for(program, warp)
    if reason in (BARRIER, FENCE, TOKEN, END):
        return True
    if reason != LONG_RESULT or not is_fetched(program, warp) or state.has_left[warp] != 0:
        return False
    if program.suspends[next_pc(program, warp)] == 0:
        return False
    state.has_left[warp] = 1
    return True


@hook
def choose(state: State, program: Program, scheduler: int, plan: Plan) -> int:
    best = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp) and is_active(state, program, warp) and state.issues_from[warp] <= now(plan):
            if warp == state.last[scheduler]:
                return warp
            if best == NOBODY or age(program, warp) < age(program, best):
                best = warp
    return best


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.last[scheduler_of(program, warp)] = warp
    state.has_left[warp] = 0


@hook
def turns_end(state: State, program: Program, scheduler: int, plan: Plan) -> None:
    free = room(state, program, scheduler)
    after = int(state.entered[scheduler])
    for turn in range(2):  # the slots behind the last one that entered, then the others
        for warp in warps_of(program, scheduler):
            reason = waits_for(program, warp)
            is_next = free > 0 and (warp > after) == (turn == 0) and not is_active(state, program, warp)
            if is_next and reason in (NOTHING, RESULT):
                enter(state, program, warp, now(plan))
                free -= 1
