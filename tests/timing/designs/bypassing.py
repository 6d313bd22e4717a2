"""A small bypassing operand collector: each warp keeps its last words, first in, first out, and results write back.

After thesis section 3.4: a source that is kept needs no port and no bank; what leaves is written if it is a result.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", levels=("MRF", "BOC"), source="assumed: a miniature")
BOC, NOTHING, MOST = 1, -1, 8
CLEAN, DIRTY = 0, 1


@dataclass(frozen=True)
class Parameters:
    """The collector of a warp."""

    entries: int = w.parameter(4, low=1, high=MOST, source="assumed: a miniature")
    instructions: int = w.parameter(2, low=1, high=4, source="assumed: a miniature")
    reading: int = w.parameter(1, low=1, high=4, source="assumed: a miniature")
    in_turn: bool = w.parameter(True, source="assumed: a miniature")


class State(NamedTuple):
    """By warp: the registers kept, whether they are results, and where the next one goes."""

    entries: int
    held: NDArray[np.int64]
    dirty: NDArray[np.int64]
    place: NDArray[np.int64]


def init(parameters: Parameters, program: w.Program) -> State:
    held = w.per_warp(np.full(MOST, NOTHING))
    return State(parameters.entries, held, w.per_warp(np.zeros(MOST, np.int64)), w.per_warp(np.int64(0)))


def collectors(parameters: Parameters) -> w.Collectors:
    order = "round-robin" if parameters.in_turn else "oldest"
    return w.Collectors(True, parameters.entries, parameters.instructions, parameters.reading, 1, order)  # type: ignore[arg-type]


def place_of(state: State, warp: int, register: int) -> int:
    """Where a register is kept, NOTHING if it is not."""
    found = NOTHING
    for place in range(state.entries):
        if state.held[warp, place] == register:
            found = place
    return found


def keep(state: State, warp: int, register: int, kind: int, plan: w.Plan) -> None:
    """Keep a register; the oldest one leaves, to its bank if it is a result."""
    place = place_of(state, warp, register)
    if place == NOTHING:
        place = state.place[warp]
        state.place[warp] = (place + 1) % state.entries
        if state.dirty[warp, place]:
            w.move(plan, BOC, w.MRF, state.held[warp, place])
        state.held[warp, place] = register
        state.dirty[warp, place] = CLEAN
    state.dirty[warp, place] |= kind


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        if place_of(state, warp, program.source[operand]) != NOTHING:
            w.read(plan, operand, BOC, cycles=0)
        else:
            w.read(plan, operand, w.MRF)


@w.hook
def collected(state: State, program: w.Program, warp: int, pc: int, operand: int, plan: w.Plan) -> None:
    keep(state, warp, program.source[operand], CLEAN, plan)


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        w.write(plan, operand, BOC)
        keep(state, warp, program.result[operand], DIRTY, plan)


@w.hook
def warp_end(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    for place in range(state.entries):
        if state.dirty[warp, place]:
            w.move(plan, BOC, w.MRF, state.held[warp, place])
