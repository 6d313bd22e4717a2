"""Loads that find what another warp has loaded, and a scheduler that lets those go first.

A table of each SM holds base and stride of loads that are back.  A load that is in it needs no memory; a store
empties it.  When a result is written and the warp's next instruction is a load in the table, the warp goes first.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="policy", order="sm", events=("found", "asked"), source="assumed: a miniature")
FOUND, ASKED = 0, 1
EMPTY = w.IRREGULAR


@dataclass(frozen=True)
class Parameters:
    entries: int = w.parameter(4, low=1, high=512, source="assumed: a miniature")
    cycles: int = w.parameter(2, unit="cycles", low=1, high=100, source="assumed: a miniature")


class State(NamedTuple):
    cycles: int
    is_load: NDArray[np.uint8]  # [pc] with a result from global memory
    table: NDArray[np.int64]  # [sm, entry, 2] base and stride, EMPTY for no entry
    next_entry: NDArray[np.int64]  # [sm]
    favoured: NDArray[np.int64]  # [warp] the pc that goes first


def init(parameters: Parameters, program: w.Program) -> State:
    return State(
        parameters.cycles,
        program.long_latency,
        w.per_sm(np.full((parameters.entries, 2), EMPTY)),
        w.per_sm(np.int64(0)),
        w.per_warp(np.int64(-1)),
    )


def is_known(state: State, sm: int, base: int, stride: int) -> bool:
    for entry in range(state.table.shape[1]):
        if state.table[sm, entry, 0] == base and state.table[sm, entry, 1] == stride:
            return stride != EMPTY
    return False


@w.hook
def load_lookup(
    state: State, program: w.Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: w.Plan
) -> int:
    w.count(plan, ASKED)
    if not is_known(state, w.sm_of(program, warp), base, stride):
        return 0
    w.count(plan, FOUND)
    return state.cycles


@w.hook
def memory_issued(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    if not state.is_load[pc]:
        sm = w.sm_of(program, warp)
        for entry in range(state.table.shape[1]):
            state.table[sm, entry, 1] = EMPTY


@w.hook
def memory_returned(state: State, program: w.Program, warp: int, pc: int, cycles: int, plan: w.Plan) -> None:
    if state.is_load[pc]:
        sm = w.sm_of(program, warp)
        entry = state.next_entry[sm]
        state.table[sm, entry, 0] = plan.base
        state.table[sm, entry, 1] = plan.stride
        state.next_entry[sm] = (entry + 1) % state.table.shape[1]


@w.hook
def written_back(
    state: State, program: w.Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: w.Plan
) -> None:
    if next_pc >= 0 and state.is_load[next_pc] and is_known(state, w.sm_of(program, warp), base, stride):
        state.favoured[warp] = next_pc


@w.hook
def priority(state: State, program: w.Program, warp: int, pc: int) -> int:
    return 1 if state.favoured[warp] == pc else 0
