"""A direct-mapped register cache: a register's number picks its entry, and a miss does not fill.

Each warp owns ``entries`` entries of one warp-register.  A source that is in its entry is read from the cache, any
other from the main register file (MRF).  Every result is written to the cache.  The register that was in its entry
moves to the MRF, unless its value was read for the last time.  A warp that leaves the active set of its scheduler
writes all its entries back.

Limits: a result under a guard or in divergent code counts as if it wrote all lanes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

# The slot: "levels" adds storage in front of the MRF, "operands" below all levels at the ports of the banks, "mapping"
# chooses physical registers, "policy" the warp that issues.  Then the levels with the MRF first, counters of the
# design's own, and where its rules come from.
DESIGN = w.Declaration(slot="levels", levels=("MRF", "RFC"), events=("evictions",), source="assumed: a first design")
RFC, EVICTIONS, EMPTY = 1, 0, -1


@dataclass(frozen=True)
class Parameters:
    """What can be set: --set my-design.entries=2,4,8.  ``off`` is the value that leaves the plain register file."""

    entries: int = w.parameter(4, unit="entries per thread", low=0, high=16, off=0, source="assumed: a small cache")


class State(NamedTuple):
    """What the hooks remember.  ``per_warp`` gives every warp a row of its own, which is reset when the warp starts."""

    entries: int
    held: NDArray[np.int32]  # [warp, entry] the register that is there, or EMPTY


def init(parameters: Parameters, program: w.Program) -> State:
    """The state at the start of a run; ``program`` is the table of the kernel's instructions."""
    return State(parameters.entries, w.per_warp(np.full(parameters.entries, EMPTY, np.int32)))


def structures(parameters: Parameters) -> tuple[w.Structure, ...]:
    """The storage behind each level, for energy, storage and area.

    The technology knows an RFC.  For a level of your own, give its array and its distance from the ALUs:
    ``w.Structure("X", array=w.ArraySpec("sram", words=32, word_bits=1024), private_mm=0.2, shared_mm=0.4)``.
    """
    return w.Structure("MRF"), w.Structure("RFC", entries=parameters.entries)


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    """An instruction issues: say for each source which level delivers it."""
    for operand in w.source_operands(program, pc):
        register = program.source[operand]
        w.read(plan, operand, RFC if is_held(state, warp, register) else w.MRF)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    """Directly after that: say for each result which level receives it."""
    for operand in w.source_operands(program, pc):  # values that no instruction reads again need not be written back
        register = program.source[operand]
        if program.last_read[operand] and is_held(state, warp, register):
            state.held[warp, register % state.entries] = EMPTY
    for operand in w.result_operands(program, pc):
        register = program.result[operand]
        if state.entries == 0:
            w.write(plan, operand, w.MRF)
            continue
        if not is_held(state, warp, register):
            write_back(state, warp, register % state.entries, plan)
        state.held[warp, register % state.entries] = register
        w.write(plan, operand, RFC)


@w.hook
def suspended(state: State, program: w.Program, warp: int, plan: w.Plan) -> None:
    """The warp leaves the active set of its scheduler: other warps may need the room."""
    for entry in range(state.entries):
        write_back(state, warp, entry, plan)


def is_held(state: State, warp: int, register: int) -> bool:
    """Whether a register is in its entry.  Functions that hooks call need no decorator."""
    return state.entries > 0 and state.held[warp, register % state.entries] == register


def write_back(state: State, warp: int, entry: int, plan: w.Plan) -> None:
    """Empty an entry.  Name the register of a move, so that `warpreg check` can follow its value."""
    if state.held[warp, entry] != EMPTY:
        w.move(plan, RFC, w.MRF, state.held[warp, entry])
        w.count(plan, EVICTIONS)
        state.held[warp, entry] = EMPTY
