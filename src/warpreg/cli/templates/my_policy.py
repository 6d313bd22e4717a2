"""A scheduling policy: the warp that issued last goes on, for a limited number of instructions; then the oldest.

Each scheduler stays with a warp for up to ``limit`` instructions in a row, if that warp can issue, and then takes the
oldest other one that can.  It replaces the order of the machine's scheduler, so only a run with ``--cycles`` shows it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

# The slot "policy" chooses the warp that issues.  The order says on what the behaviour depends: the warps of a
# scheduler.  Then where its rules come from.
DESIGN = w.Declaration(slot="policy", order="scheduler", source="assumed: a first policy")


@dataclass(frozen=True)
class Parameters:
    """What can be set: --set my-design.limit=1,4,64."""

    limit: int = w.parameter(16, unit="instructions", low=1, high=1024, source="assumed: some")


class State(NamedTuple):
    """What the hooks remember.  ``per_scheduler`` gives every scheduler a row of its own."""

    limit: int
    last: NDArray[np.int64]  # [scheduler] the warp that issued last, NOBODY at first and when another took its slot
    row: NDArray[np.int64]  # [scheduler] instructions that it has issued in a row


def init(parameters: Parameters, program: w.Program) -> State:
    """The state at the start of a run; ``program`` is the table of the kernel's instructions."""
    return State(parameters.limit, w.per_scheduler(np.int64(w.NOBODY)), w.per_scheduler(np.int64(0)))


@w.hook
def choose(state: State, program: w.Program, scheduler: int, plan: w.Plan) -> int:
    """Some warp of the scheduler can issue: return the one that does, or NOBODY."""
    last = int(state.last[scheduler])
    stays = last != w.NOBODY and w.can_issue(program, last)
    if stays and state.row[scheduler] < state.limit:
        return last
    best = w.NOBODY
    for warp in w.warps_of(program, scheduler):  # all its slots; most warps wait for something, see waits_for
        is_other = warp != last and w.can_issue(program, warp)
        if is_other and (best == w.NOBODY or w.age(program, warp) < w.age(program, best)):
            best = warp
    return last if stays and best == w.NOBODY else best


@w.hook
def issued(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    """An instruction has issued."""
    scheduler = w.scheduler_of(program, warp)
    if state.last[scheduler] != warp:
        state.last[scheduler] = warp
        state.row[scheduler] = 0
    state.row[scheduler] += 1


@w.hook
def warp_start(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    """A warp takes a slot; it is not the one that issued last from it."""
    scheduler = w.scheduler_of(program, warp)
    if state.last[scheduler] == warp:
        state.last[scheduler] = w.NOBODY
