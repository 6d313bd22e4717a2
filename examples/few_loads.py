"""Few loads at a time: a warp waits with its load while others of its SM are under way, and they share the cache."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="policy", order="sm", events=("refused",), resources=("loads",), source="assumed: an example"
)
REFUSED, LOADS, A_LOAD = 0, 0, 0


@dataclass(frozen=True)
class Parameters:
    most: int = w.parameter(16, unit="loads of an SM under way", low=1, high=4096, source="assumed: an example")


class State(NamedTuple):
    most: int
    under_way: NDArray[np.int64]  # [sm]


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.most, w.per_sm(np.int64(0)))


def counts(program: w.Program, pc: int) -> bool:
    """Whether it is a load that will be written back."""
    return program.long_latency[pc] != 0 and program.result_start[pc + 1] > program.result_start[pc]


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    if not counts(program, pc):
        return w.GO
    sm = w.sm_of(program, warp)
    if state.under_way[sm] >= state.most:
        w.count(plan, REFUSED)
        return A_LOAD
    state.under_way[sm] += 1
    w.level(plan, LOADS, state.under_way[sm])
    return w.GO


@w.hook
def written_back(
    state: State, program: w.Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: w.Plan
) -> None:
    if counts(program, pc):
        sm = w.sm_of(program, warp)
        state.under_way[sm] -= 1
        w.level(plan, LOADS, state.under_way[sm])
        w.wake(plan, A_LOAD)
