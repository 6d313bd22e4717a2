"""A cache of registers that the warps of a scheduler share: first in, first out, and every result enters."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", levels=("MRF", "CACHE"), order="scheduler", source="assumed: a miniature")
CACHE, NOTHING = 1, -1


@dataclass(frozen=True)
class Parameters:
    entries: int = w.parameter(2, low=1, high=64, source="assumed: a miniature")


class State(NamedTuple):
    held: NDArray[np.int64]  # [scheduler, entry] warp * registers + register
    oldest: NDArray[np.int64]  # [scheduler] the entry to go next


def init(parameters: Parameters, program: w.Program) -> State:
    return State(w.per_scheduler(np.full(parameters.entries, NOTHING)), w.per_scheduler(np.int64(0)))


def find(state: State, program: w.Program, warp: int, register: int) -> int:
    """The entry that holds a register of a warp, NOTHING if none does."""
    scheduler = w.scheduler_of(program, warp)
    for entry in range(state.held.shape[1]):
        if state.held[scheduler, entry] == warp * program.register_count + register:
            return entry
    return NOTHING


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        found = find(state, program, warp, program.source[operand])
        w.read(plan, operand, w.MRF if found == NOTHING else CACHE)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    scheduler, registers = w.scheduler_of(program, warp), program.register_count
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        register = program.result[operand]
        if find(state, program, warp, register) == NOTHING:
            entry = state.oldest[scheduler]
            before = state.held[scheduler, entry]
            if before != NOTHING:
                w.move(plan, CACHE, w.MRF, before % registers, before // registers)
            state.held[scheduler, entry] = warp * registers + register
            state.oldest[scheduler] = (entry + 1) % state.held.shape[1]
        w.write(plan, operand, CACHE)


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    scheduler = w.scheduler_of(program, warp)
    for entry in range(state.held.shape[1]):
        if state.held[scheduler, entry] // program.register_count == warp:
            state.held[scheduler, entry] = NOTHING
