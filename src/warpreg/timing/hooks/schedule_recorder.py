"""Record the schedule of a timing run, as a design without effect, alone or beside others.

Operands that no other design plans are in the MRF.  The words are those of :mod:`warpreg.trace.schedule`; consecutive
issues of one warp share a record.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Declaration, Plan, Program, hook, parameter, per_kernel
from warpreg.trace import long_arrays
from warpreg.trace.schedule import AMOUNT_SHIFT, MAX_AMOUNT, SLOT_SHIFT, ScheduleWord

DESIGN = Declaration(slot="policy", order="sm", source="warpreg: the format of recorded schedules")
ISSUE, START, END = int(ScheduleWord.ISSUE), int(ScheduleWord.START), int(ScheduleWord.END)
ACTIVATE, SUSPEND, SM = int(ScheduleWord.ACTIVATE), int(ScheduleWord.SUSPEND), int(ScheduleWord.SM)
ARRIVE = int(ScheduleWord.ARRIVE)
COUNT, PRESENT_SM, BLOCK, WARP, LAST = range(5)
NOBODY = -1


@dataclass(frozen=True)
class Parameters:
    """Capacity of the recording."""

    words: int = parameter(1 << 20, unit="words", low=1, source="as many as the caller knows to suffice")


class State(NamedTuple):
    """``words`` uint32 recorded so far.  ``place`` int64: number of words; SM of the last record; thread block placed
    last; its next warp; position of the issue record that may be extended (NOBODY: none).
    """

    words: NDArray[np.uint32]
    place: NDArray[np.int64]


def init(parameters: Parameters, program: Program) -> State:
    """An empty recording."""
    place = np.array([0, 0, NOBODY, 0, NOBODY], np.int64)
    return State(per_kernel(long_arrays.zeros(parameters.words, np.uint32)), per_kernel(place))


@hook
def block_start(state: State, program: Program, sm: int, plan: Plan) -> None:
    state.place[BLOCK] += 1
    state.place[WARP] = 0


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    append(state, program, warp, START, state.place[WARP])
    append_word(state, state.place[BLOCK])
    state.place[WARP] += 1


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    append(state, program, warp, END, 0)


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    append(state, program, warp, ACTIVATE, 0)


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    append(state, program, warp, SUSPEND, 0)


@hook
def arrived(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    append(state, program, warp, ARRIVE, pc)


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    last, slot = state.place[LAST], warp % program.slots
    if last != NOBODY and state.place[PRESENT_SM] == warp // program.slots:
        word = np.int64(state.words[last])
        if word >> SLOT_SHIFT & 255 == slot and word >> AMOUNT_SHIFT < MAX_AMOUNT:
            state.words[last] = word + (1 << AMOUNT_SHIFT)
            return
    append(state, program, warp, ISSUE, 1)
    state.place[LAST] = state.place[COUNT] - 1


def append(state: State, program: Program, warp: int, kind: int, amount: int) -> None:
    """Append a record of a warp, after a record of its SM if that changes."""
    sm = warp // program.slots
    if sm != state.place[PRESENT_SM]:
        state.place[PRESENT_SM] = sm
        append_word(state, SM | sm << SLOT_SHIFT)
    append_word(state, kind | warp % program.slots << SLOT_SHIFT | amount << AMOUNT_SHIFT)
    state.place[LAST] = NOBODY


def append_word(state: State, word: int) -> None:
    """Append one word; beyond the capacity, words are only counted."""
    if state.place[COUNT] < state.words.size:
        state.words[state.place[COUNT]] = word
    state.place[COUNT] += 1
