"""Each warp keeps its last result near; the one before goes to its bank then."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", levels=("MRF", "LAST"), source="assumed: a miniature")
LAST, NOTHING = 1, -1


class State(NamedTuple):
    held: NDArray[np.int64]  # [warp] the register of the last result


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_warp(np.int64(NOTHING)))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        w.read(plan, operand, LAST if program.source[operand] == state.held[warp] else w.MRF)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        before = state.held[warp]
        if before != NOTHING and before != program.result[operand]:
            w.move(plan, LAST, w.MRF, before)
        state.held[warp] = program.result[operand]
        w.write(plan, operand, LAST)
