"""Registers of a warp sleep while it waits, and it takes some cycles to wake them.

``entries`` of a warp are awake unless it waits (Drowsy registers, CMOS-TFET paper, section 4.2); a warp that goes on is
refused until they are.
"""

from dataclasses import dataclass
from typing import NamedTuple

from numpy import int64
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping", order="sm", events=("stalls",), resources=("asleep",), source="assumed: a miniature"
)
STALLS, ASLEEP = 0, 0


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    entries: int = w.parameter(4, unit="registers", low=1, source="assumed: a test")
    cycles: int = w.parameter(2, unit="cycles", low=0, source="assumed: a test")


class State(NamedTuple):
    """``awake`` [warp] the cycle from which the registers of a warp are awake."""

    entries: int
    cycles: int
    awake: NDArray[int64]


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.entries, parameters.cycles, w.per_warp(int64(0)))


@w.hook
def stalled(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    w.count(plan, STALLS)
    w.change(plan, ASLEEP, state.entries)


@w.hook
def resumed(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    w.change(plan, ASLEEP, -state.entries)
    state.awake[warp] = w.now(plan) + state.cycles


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    if w.now(plan) < state.awake[warp]:
        return w.after(plan, state.awake[warp] - w.now(plan))
    return w.GO
