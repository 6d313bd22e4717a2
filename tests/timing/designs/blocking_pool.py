"""Sections of registers that the warps of an SM take turns with; a warp without one waits.

An instruction needs a section if it names a register from ``first`` on; a warp gives its section back with the last
instruction in a row that does.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping",
    order="sm",
    events=("acquired", "refused"),
    resources=("sections in use",),
    source="assumed: a miniature",
)
ACQUIRED, REFUSED = 0, 1
IN_USE = 0
A_SECTION = 0
NOBODY = -1


@dataclass(frozen=True)
class Parameters:
    first: int = w.parameter(8, low=0, high=255, source="assumed: a miniature")
    sections: int = w.parameter(1, low=1, high=64, source="assumed: a miniature")
    leaks: bool = w.parameter(False, source="assumed: a miniature that never gives a section back")


class State(NamedTuple):
    leaks: bool
    needs: NDArray[np.uint8]  # [pc] whether an instruction needs a section
    holder: NDArray[np.int64]  # [sm, section] the warp that has it
    has: NDArray[np.int64]  # [warp] whether it has one


def init(parameters: Parameters, program: w.Program) -> State:
    needs = np.zeros(program.unit.size + 1, np.uint8)
    for pc in range(program.unit.size):
        named = [
            *program.source[program.source_start[pc] : program.source_start[pc + 1]],
            *program.result[program.result_start[pc] : program.result_start[pc + 1]],
        ]
        needs[pc] = any(register >= parameters.first for register in named)
    return State(parameters.leaks, needs, w.per_sm(np.full(parameters.sections, NOBODY)), w.per_warp(np.int64(0)))


def section_of(state: State, sm: int, warp: int) -> int:
    """The first section that a warp has (or nobody, for NOBODY); -1 if there is none."""
    for section in range(state.holder.shape[1]):
        if state.holder[sm, section] == warp:
            return section
    return -1


def tell(state: State, sm: int, plan: w.Plan) -> None:
    """How many sections are in use from now on."""
    in_use = 0
    for section in range(state.holder.shape[1]):
        in_use += state.holder[sm, section] != NOBODY
    w.level(plan, IN_USE, in_use)


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    sm = w.sm_of(program, warp)
    if state.needs[pc] == 0 or state.has[warp]:
        return w.GO
    free = section_of(state, sm, NOBODY)
    if free < 0:
        w.count(plan, REFUSED)
        return A_SECTION
    state.holder[sm, free] = warp
    state.has[warp] = 1
    w.count(plan, ACQUIRED)
    tell(state, sm, plan)
    return w.GO


@w.hook
def owner(state: State, program: w.Program, warp: int, token: int) -> int:
    return state.holder[w.sm_of(program, warp), 0]


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        w.write(plan, operand, w.MRF)
    if state.has[warp] and state.needs[pc + 1] == 0 and not state.leaks:
        sm = w.sm_of(program, warp)
        state.holder[sm, section_of(state, sm, warp)] = NOBODY
        state.has[warp] = 0
        w.wake(plan, A_SECTION)
        tell(state, sm, plan)
