"""Loads that take what another load of the SM has loaded, or wait for one that is under way.

A table of each SM holds the address of lane 0 and of lane 1 of loads, the number of the load that brings the data, and
up to two loads that wait for it.  A load that finds its addresses reads nothing from memory and writes no register.  A
store or atomic removes what any of its lanes writes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping", order="sm", events=("found", "held", "removed"), lanes=True, source="assumed: a miniature"
)
FOUND, IN_WAIT, REMOVED = 0, 1, 2
NOBODY = -1
ENTRIES, WAITERS, LANES = 4, 2, 32


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    cycles: int = w.parameter(2, unit="cycles", low=1, source="assumed: a test")
    forgets: bool = w.parameter(False, source="assumed: a test")


class State(NamedTuple):
    """``addresses`` [SM, entry, lane] of loads; ``loader`` [SM, entry] NOBODY when the data are there; ``waiting`` [SM,
    entry, place]; ``last`` [SM] entry filled; ``missed`` [SM] the last load that needs memory; ``shared`` [SM,
    number of a load modulo 64] whether it found its data.
    """

    cycles: int
    forgets: int
    is_load: NDArray[np.uint8]
    addresses: NDArray[np.int64]
    loader: NDArray[np.int64]
    waiting: NDArray[np.int64]
    last: NDArray[np.int64]
    missed: NDArray[np.int64]
    shared: NDArray[np.int64]


def init(parameters: Parameters, program: w.Program) -> State:
    return State(
        parameters.cycles,
        int(parameters.forgets),
        program.long_latency,
        w.per_sm(np.full((ENTRIES, LANES), NOBODY)),
        w.per_sm(np.full(ENTRIES, NOBODY)),
        w.per_sm(np.full((ENTRIES, WAITERS), NOBODY)),
        w.per_sm(np.int64(0)),
        w.per_sm(np.int64(NOBODY)),
        w.per_sm(np.zeros(64, np.int64)),
    )


def find(state: State, sm: int, mask: int, plan: w.Plan) -> int:
    """The entry that has the addresses of all lanes, NOBODY without."""
    for entry in range(ENTRIES):
        same = 0
        for lane in range(LANES):
            if mask >> lane & 1 == 0 or state.addresses[sm, entry, lane] == w.lane_address(plan, lane):
                same += 1
        if same == LANES:
            return entry
    return NOBODY


@w.hook
def load_lookup(
    state: State, program: w.Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: w.Plan
) -> int:
    sm, load = w.sm_of(program, warp), w.this_load(plan)
    entry = find(state, sm, mask, plan)
    state.shared[sm, load % 64] = 0
    if entry != NOBODY and state.loader[sm, entry] == NOBODY:
        state.shared[sm, load % 64] = 1
        w.count(plan, FOUND)
        return state.cycles
    if entry != NOBODY:
        for place in range(WAITERS):
            if state.waiting[sm, entry, place] == NOBODY:
                state.waiting[sm, entry, place] = load
                state.shared[sm, load % 64] = 1
                w.count(plan, IN_WAIT)
                return w.HELD
    state.missed[sm] = load
    return 0


@w.hook
def memory_issued(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    sm = w.sm_of(program, warp)
    if state.missed[sm] == w.this_load(plan):
        entry = (state.last[sm] + 1) % ENTRIES
        if state.loader[sm, entry] == NOBODY:
            state.last[sm] = entry
            state.loader[sm, entry] = w.this_load(plan)
            for lane in range(LANES):
                state.addresses[sm, entry, lane] = w.lane_address(plan, lane) if plan.mask >> lane & 1 else NOBODY
        return
    for entry in range(ENTRIES):
        for lane in range(LANES):
            for other in range(LANES):
                if plan.mask >> other & 1 and state.addresses[sm, entry, lane] == w.lane_address(plan, other):
                    state.addresses[sm, entry, lane] = NOBODY
                    w.count(plan, REMOVED)


@w.hook
def memory_returned(state: State, program: w.Program, warp: int, pc: int, cycles: int, plan: w.Plan) -> None:
    sm = w.sm_of(program, warp)
    for entry in range(ENTRIES):
        if state.loader[sm, entry] == w.this_load(plan):
            state.loader[sm, entry] = NOBODY
            for place in range(WAITERS):
                if state.waiting[sm, entry, place] != NOBODY and not state.forgets:
                    w.complete(plan, state.waiting[sm, entry, place], 1)
                    state.waiting[sm, entry, place] = NOBODY


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        w.write(plan, operand, w.MRF)


@w.hook
def produced(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    if state.is_load[pc] and state.shared[w.sm_of(program, warp), w.this_load(plan) % 64]:
        for operand in w.result_operands(program, pc):
            w.nowhere(plan, operand)
