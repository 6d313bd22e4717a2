"""A register has the lowest free physical register of its SM from its first write to the end of the warp.

The physical register chooses the bank.  The pool must be as large as the registers of all resident warps.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping", order="sm", events=("named",), resources=("physical registers",), source="assumed: an example"
)
NAMED = 0
IN_USE = 0
NONE = -1


@dataclass(frozen=True)
class Parameters:
    banks: int = w.parameter(4, low=1, high=64, source="assumed: an example")
    registers: int = w.parameter(1024, unit="warp-registers of an SM", low=1, high=4096, source="assumed: 128 KB")


class State(NamedTuple):
    banks: int
    physical: NDArray[np.int64]  # [warp, register] or NONE
    used: NDArray[np.uint8]  # [sm, physical register]
    in_use: NDArray[np.int64]  # [sm] how many


def init(parameters: Parameters, program: w.Program) -> State:
    names = w.per_warp(np.full(program.register_count, NONE, np.int64))
    return State(parameters.banks, names, w.per_sm(np.zeros(parameters.registers, np.uint8)), w.per_sm(np.int64(0)))


def name(state: State, program: w.Program, warp: int, register: int, plan: w.Plan) -> None:
    """Give a register a physical one, unless it has one."""
    sm = w.sm_of(program, warp)
    if state.physical[warp, register] == NONE:
        physical = 0
        while state.used[sm, physical]:
            physical += 1
        state.used[sm, physical] = 1
        state.physical[warp, register] = physical
        w.count(plan, NAMED)
        add(state, sm, 1, plan)


def release(state: State, program: w.Program, warp: int, register: int, plan: w.Plan) -> None:
    """Take the physical register of a register back, if it has one."""
    sm = w.sm_of(program, warp)
    if state.physical[warp, register] != NONE:
        state.used[sm, state.physical[warp, register]] = 0
        state.physical[warp, register] = NONE
        add(state, sm, -1, plan)


def add(state: State, sm: int, change: int, plan: w.Plan) -> None:
    """So many more are in use from now on."""
    state.in_use[sm] += change
    w.level(plan, IN_USE, state.in_use[sm])


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        physical = state.physical[warp, program.source[operand]]
        w.read(plan, operand, w.MRF, bank=physical % state.banks if physical != NONE else w.UNSET)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        name(state, program, warp, program.result[operand], plan)
        w.write(plan, operand, w.MRF, bank=state.physical[warp, program.result[operand]] % state.banks)


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    for register in range(state.physical.shape[1]):
        release(state, program, warp, register, plan)
