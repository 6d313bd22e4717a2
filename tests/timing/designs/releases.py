"""A physical register is free again after the last read; alone the mapping is that of ``renames``."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.timing.designs import renames

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping",
    order="sm",
    events=(*renames.DESIGN.events, "released"),
    resources=renames.DESIGN.resources,
    uses=("renames",),
    source="assumed: a miniature",
)
RELEASED = 1


class Hints(NamedTuple):
    dies: NDArray[np.bool_]  # [source operand] read for the last time


class State(NamedTuple):
    renames: renames.State


def hints(program: w.Program, parameters: w.NoParameters, analysis: w.Analysis) -> Hints:
    return Hints(analysis.last_reads)


def init(parameters: w.NoParameters, program: w.Program) -> State:
    return State(renames.init(renames.Parameters(), program))


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    renames.plan_reads(state.renames, program, warp, pc, plan)
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        if program.hints.dies[operand] and state.renames.physical[warp, register] != renames.NONE:
            renames.release(state.renames, program, warp, register, plan)
            w.count(plan, RELEASED)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    renames.plan_write(state.renames, program, warp, pc, plan)


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    renames.warp_end(state.renames, program, warp, plan)
