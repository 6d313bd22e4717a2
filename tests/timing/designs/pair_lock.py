"""Two neighbouring warps share the registers from ``first`` on: who touches one first has them until it ends.

The other waits at its first such instruction; of the warps that can issue, owners go first.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot=("mapping", "policy"), order="sm", events=("locked",), source="assumed: a miniature")
LOCKED = 0
NOBODY = -1


@dataclass(frozen=True)
class Parameters:
    first: int = w.parameter(8, low=0, high=255, source="assumed: a miniature")


class State(NamedTuple):
    first: int
    owner_of: NDArray[np.int64]  # [pair]


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.first, w.per_pair(np.int64(NOBODY)))


def is_shared(state: State, program: w.Program, pc: int) -> bool:
    """Whether an instruction names a shared register."""
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        if program.source[operand] >= state.first:
            return True
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if program.result[operand] >= state.first:
            return True
    return False


@w.hook
def admit(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> int:
    pair = w.pair_of(program, warp)
    if not is_shared(state, program, pc) or state.owner_of[pair] == warp:
        return w.GO
    if state.owner_of[pair] != NOBODY:
        return pair
    state.owner_of[pair] = warp
    w.count(plan, LOCKED)
    return w.GO


@w.hook
def owner(state: State, program: w.Program, warp: int, token: int) -> int:
    return state.owner_of[token]


@w.hook
def priority(state: State, program: w.Program, warp: int, pc: int) -> int:
    return 1 if state.owner_of[w.pair_of(program, warp)] == warp else 0


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    pair = w.pair_of(program, warp)
    if state.owner_of[pair] == warp:
        state.owner_of[pair] = NOBODY
        w.wake(plan, pair)
