"""A warp that becomes active loads its registers into a level of its own, and issues when they are there.

They are dropped when it leaves the active set.
"""

from dataclasses import dataclass
from typing import NamedTuple

from numpy import int64
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="policy", order="sm", events=("loads", "drops"), source="assumed: a miniature")
LOADS, DROPS = 0, 1


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    cycles: int = w.parameter(10, unit="cycles", low=0, source="assumed: a test")


class State(NamedTuple):
    """``there`` [warp] the cycle from which the registers of an active warp are there."""

    cycles: int
    there: NDArray[int64]


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.cycles, w.per_warp(int64(0)))


@w.hook
def activated(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    state.there[warp] = w.now(plan) + state.cycles
    w.count(plan, LOADS)


@w.hook
def suspended(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    w.count(plan, DROPS)


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    if w.now(plan) < state.there[warp]:
        return w.after(plan, state.there[warp] - w.now(plan))
    return w.GO
