"""A physical register is free again after the last read; without ``renaming`` the design has its table to itself."""

from typing import NamedTuple

import numpy as np
import renaming
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping",
    order="sm",
    events=(*renaming.DESIGN.events, "released"),
    resources=renaming.DESIGN.resources,
    uses=("renaming",),
    source="assumed: an example",
)
RELEASED = 1


class Hints(NamedTuple):
    dies: NDArray[np.bool_]  # [source operand] read for the last time


class State(NamedTuple):
    renaming: renaming.State


def hints(program: w.Program, parameters: w.NoParameters, analysis: w.Analysis) -> Hints:
    return Hints(analysis.last_reads)


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(renaming.init(renaming.Parameters(), program))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    renaming.plan_reads(state.renaming, program, warp, pc, plan)
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        if program.hints.dies[operand] and state.renaming.physical[warp, register] != renaming.NONE:
            renaming.release(state.renaming, program, warp, register, plan)
            w.count(plan, RELEASED)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    renaming.plan_write(state.renaming, program, warp, pc, plan)


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    renaming.warp_end(state.renaming, program, warp, plan)
