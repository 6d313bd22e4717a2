"""Values of one or two bytes go to a small level as soon as they are issued or loaded; wide ones take longer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="levels",
    levels=("MRF", "NARROW"),
    events=("bytes", "loaded bytes"),
    widths=True,
    source="assumed: a miniature",
)
NARROW = 1
BYTES, LOADED = 0, 1
WIDE_CYCLES = 3


class State(NamedTuple):
    narrow: NDArray[np.int64]  # [warp, register] whether its value is there


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(w.per_warp(np.zeros(program.register_count, np.int64)))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, NARROW if state.narrow[warp, program.source[operand]] else w.MRF)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    if not program.long_latency[pc]:
        place(state, program, warp, pc, plan)


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    if program.long_latency[pc]:
        place(state, program, warp, pc, plan)


@w.hook
def arrived(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        w.count(plan, LOADED, w.width(plan, operand))


def place(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        bytes_ = w.width(plan, operand)
        w.count(plan, BYTES, bytes_)
        state.narrow[warp, program.result[operand]] = bytes_ <= 2
        if bytes_ <= 2:
            w.write(plan, operand, NARROW)
        else:
            w.write(plan, operand, w.MRF, cycles=WIDE_CYCLES)
