"""Gives each result the next bank when it is there, and reads it from the bank that it was given."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", order="sm", events=("given",), source="assumed: a miniature")
BANKS = 4


class State(NamedTuple):
    given: NDArray[np.int64]  # [sm] results so far
    bank: NDArray[np.int64]  # [warp, register]


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_sm(np.int64(0)), w.per_warp(np.arange(program.register_count) % BANKS))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, w.MRF, bank=state.bank[warp, program.source[operand]])


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    sm = w.sm_of(program, warp)
    for operand in w.result_operands(program, pc):
        bank = state.given[sm] % BANKS
        state.given[sm] += 1
        state.bank[warp, program.result[operand]] = bank
        w.count(plan, 0)
        w.write(plan, operand, w.MRF, bank=bank)
