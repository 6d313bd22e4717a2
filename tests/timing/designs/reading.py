"""Follows how many operands are on their way to collectors; plans nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="policy", order="sm", events=("issued", "collected"), resources=("reading",), source="assumed: a miniature"
)
ISSUED, COLLECTED = 0, 1
READING = 0


class State(NamedTuple):
    reading: NDArray[np.int64]  # [sm]


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_sm(np.int64(0)))


@w.hook
def issued(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    w.count(plan, ISSUED)
    sm = w.sm_of(program, warp)
    state.reading[sm] += program.source_start[pc + 1] - program.source_start[pc]
    w.level(plan, READING, state.reading[sm])


@w.hook
def collected(state: State, program: w.Program, warp: int, pc: int, operand: int, plan: w.Plan) -> None:
    w.count(plan, COLLECTED)
    sm = w.sm_of(program, warp)
    state.reading[sm] -= 1
    w.level(plan, READING, state.reading[sm])
