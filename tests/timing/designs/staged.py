"""Results of even registers are written three cycles late; a partial write waits two cycles once before it issues."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", events=("late", "refused"), patterns=True, source="assumed: a miniature")
LATE, REFUSED = 0, 1
CYCLES, PAUSE = 3, 2


class State(NamedTuple):
    refused: NDArray[np.int64]  # [warp, 0] whether its next instruction was refused


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_warp(np.zeros(1, np.int64)))


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    for operand in w.result_operands(program, pc):
        if w.is_partial(w.pattern(plan, operand)) and state.refused[warp, 0] == 0:
            state.refused[warp, 0] = 1
            w.count(plan, REFUSED)
            return w.after(plan, PAUSE)
    state.refused[warp, 0] = 0
    return w.GO


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        w.write(plan, operand, w.MRF)
        if program.result[operand] % 2 == 0:
            w.count(plan, LATE)
            w.postpone(plan, CYCLES)
