"""Values whose deltas fit a byte go to a small level when the write covers all threads, and all others to the MRF."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="levels",
    levels=("MRF", "SMALL"),
    events=("deltas", "partial", "even"),
    patterns=True,
    source="assumed: a miniature",
)
SMALL = 1
DELTAS, PARTIAL, EVEN = 0, 1, 2


class State(NamedTuple):
    small: NDArray[np.int64]  # [warp, register] whether its value is there


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_warp(np.zeros(program.register_count, np.int64)))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, SMALL if state.small[warp, program.source[operand]] else w.MRF)


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        pattern = w.pattern(plan, operand)
        w.count(plan, DELTAS, w.delta_bytes(pattern))
        w.count(plan, PARTIAL, int(w.is_partial(pattern)))
        w.count(plan, EVEN, int(w.shape_of(pattern) != w.UNEVEN))
        fits = w.delta_bytes(pattern) <= 1 and not w.is_partial(pattern)
        state.small[warp, program.result[operand]] = fits
        w.write(plan, operand, SMALL if fits else w.MRF)
