"""Greedy, then oldest or youngest: the warp that issued last, if it can; otherwise by age."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    NOBODY,
    Declaration,
    Plan,
    Program,
    age,
    can_issue,
    hook,
    parameter,
    per_scheduler,
    scheduler_of,
    warps_of,
)

DESIGN = Declaration(
    slot="policy", order="scheduler", source="the policies gto and gty of the timing rules, as a design"
)


@dataclass(frozen=True)
class Parameters:
    youngest: bool = parameter(False, source="assumed: gto is the default")


class State(NamedTuple):
    youngest: bool
    last: NDArray[np.int64]  # [scheduler] the warp that issued last, NOBODY if it has ended


def init(parameters: Parameters, program: Program) -> State:
    return State(parameters.youngest, per_scheduler(np.int64(NOBODY)))


@hook
def choose(state: State, program: Program, scheduler: int, plan: Plan) -> int:
    last = int(state.last[scheduler])
    if last != NOBODY and can_issue(program, last):
        return last
    best = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp):
            is_older = best == NOBODY or age(program, warp) < age(program, best)
            if best == NOBODY or is_older != state.youngest:
                best = warp
    return best


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.last[scheduler_of(program, warp)] = warp


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.last[scheduler_of(program, warp)] == warp:  # the warp that issued last had this slot
        state.last[scheduler_of(program, warp)] = NOBODY
