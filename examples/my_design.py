"""A direct-mapped register cache: a register's number picks its entry, and a value is dropped after its last read."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", levels=("MRF", "RFC"), events=("died",), source="assumed: an example")
RFC, DIED, EMPTY = 1, 0, -1


@dataclass(frozen=True)
class Parameters:
    entries: int = w.parameter(6, unit="entries per thread", low=1, high=16, source="assumed: as in rfc")


class State(NamedTuple):
    entries: int
    held: NDArray[np.int32]  # [warp, entry] the register that is there


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.entries, w.per_warp(np.full(parameters.entries, EMPTY, np.int32)))


def structures(parameters: Parameters) -> tuple[w.Structure, ...]:
    return w.Structure("MRF"), w.Structure("RFC", entries=parameters.entries)


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        w.read(plan, operand, RFC if state.held[warp, place(state, register)] == register else w.MRF)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        if program.last_read[operand] and state.held[warp, place(state, register)] == register:
            state.held[warp, place(state, register)] = EMPTY
            w.count(plan, DIED)
    for operand in w.result_operands(program, pc):
        register = program.result[operand]
        before = state.held[warp, place(state, register)]
        if before != EMPTY and before != register:
            w.move(plan, RFC, w.MRF, before)
        state.held[warp, place(state, register)] = register
        w.write(plan, operand, RFC)


def place(state: State, register: int) -> int:
    return register % state.entries
