"""Chooses warps by a hash, nobody now and then, and counts all that a policy sees.  Made to compare two cores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    NOBODY,
    Declaration,
    NoParameters,
    Plan,
    Program,
    age,
    can_issue,
    count,
    hook,
    is_fetched,
    next_pc,
    now,
    per_scheduler,
    waits_for,
    wake,
    warps_of,
)

DESIGN = Declaration(slot="policy", order="sm", events=("chosen", "before", "after"), source="assumed: a test")
CHOSEN, BEFORE, AFTER = range(3)
GATE = 7


class State(NamedTuple):
    """``turns`` of a scheduler so far."""

    turns: NDArray[np.int64]


def init(parameters: NoParameters, program: Program) -> State:
    """No turn."""
    return State(per_scheduler(np.int64(0)))


def sight(program: Program, scheduler: int) -> int:
    """All that is to be seen, in one number."""
    found = 0
    for warp in warps_of(program, scheduler):
        found += (waits_for(program, warp) + 7 * is_fetched(program, warp)) * (next_pc(program, warp) + 2)
        found += (age(program, warp) + 2) * (1 + 5 * can_issue(program, warp)) * (warp + 1)
    return found


@hook
def turns_start(state: State, program: Program, scheduler: int, plan: Plan) -> None:
    count(plan, BEFORE, sight(program, scheduler) * (now(plan) + 1))
    if now(plan) % 5 == scheduler:
        wake(plan, GATE)


@hook
def turns_end(state: State, program: Program, scheduler: int, plan: Plan) -> None:
    count(plan, AFTER, sight(program, scheduler) * (now(plan) + 1))


@hook
def choose(state: State, program: Program, scheduler: int, plan: Plan) -> int:
    state.turns[scheduler] += 1
    seen = sight(program, scheduler)
    count(plan, CHOSEN, seen + now(plan))
    if (seen + state.turns[scheduler]) % 4 == 0:
        return NOBODY
    best = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp) and (best == NOBODY or (seen + warp * 31) % 3 == 0):
            best = warp
    return best
