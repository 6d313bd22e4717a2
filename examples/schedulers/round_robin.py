"""Loose round robin: by slot, from the one behind the slot that issued last."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    NOBODY,
    Declaration,
    NoParameters,
    Plan,
    Program,
    can_issue,
    hook,
    per_scheduler,
    scheduler_of,
    warps_of,
)

DESIGN = Declaration(slot="policy", order="scheduler", source="the policy lrr of the timing rules, as a design")


class State(NamedTuple):
    last: NDArray[np.int64]  # [scheduler] the warp slot that issued last, NOBODY at first


def init(parameters: NoParameters, program: Program) -> State:
    return State(per_scheduler(np.int64(NOBODY)))


@hook
def choose(state: State, program: Program, scheduler: int, plan: Plan) -> int:
    first = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp):
            if warp > state.last[scheduler]:
                return warp
            if first == NOBODY:
                first = warp
    return first


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.last[scheduler_of(program, warp)] = warp
