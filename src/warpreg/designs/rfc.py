"""Register file cache in hardware: FIFO, write-allocate (Gebhart et al., ISCA 2011, sections 3.1 and 5.1).

Each warp owns ``entries`` entries of one warp-register; its 32 lanes move together and the register number is the tag.
A source that is present is read from the RFC, any other from the MRF, and a miss does not fill.  Every result goes to
the RFC: over the old content if the register is present, else into the next entry in FIFO order, whose content first
moves to the MRF.

Where the paper is silent:
- an overwrite in place keeps the entry's FIFO age, because one pointer per warp is all the state that FIFO needs;
- entries left when the warp ends are dropped: nothing can read them;
- a guarded or divergent result that misses allocates like any other and its eviction writes the MRF once, under the
  lanes it holds; a later read counts as one RFC read even if some lanes would have to come from the MRF;
- loads allocate too.  Passing them by the RFC belongs to the two-level scheduler (section 3.3), which this design does
  not have;
- the results of one instruction (the halves of a pair, the elements of a vector) enter in register order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    Declaration,
    Plan,
    Program,
    Structure,
    hook,
    move,
    parameter,
    per_warp,
    read,
    write,
)

DESIGN = Declaration(slot="levels", levels=("MRF", "RFC"), source="rfc §3.1, §5.1")
RFC = 1
NOBODY = -1


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    entries: int = parameter(
        6, unit="entries per thread", low=0, high=16, source="rfc §5.1: swept, 6 chosen; 0 is the MRF alone"
    )


class State(NamedTuple):
    """``entry`` [warp, register] and ``register`` [warp, entry] are inverse maps, NOBODY where empty; ``oldest`` is the
    FIFO pointer.
    """

    entries: int
    entry: NDArray[np.int8]
    register: NDArray[np.int32]
    oldest: NDArray[np.int8]


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache for each warp."""
    return State(
        entries=parameters.entries,
        entry=per_warp(np.full(program.register_count, NOBODY, np.int8)),
        register=per_warp(np.full(max(1, parameters.entries), NOBODY, np.int32)),
        oldest=per_warp(np.int8(0)),
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; how many warps share a bank of the RFC is the technology's (8, the active warps of the
    paper).
    """
    return Structure("MRF"), Structure("RFC", entries=parameters.entries)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        present = state.entry[warp, program.source[operand]] != NOBODY
        read(plan, operand, RFC if present else MRF)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        register = program.result[operand]
        if state.entry[warp, register] == NOBODY and state.entries > 0:
            take_oldest(state, warp, register, plan)
        write(plan, operand, RFC if state.entries > 0 else MRF)


def take_oldest(state: State, warp: int, register: int, plan: Plan) -> None:
    """Give the oldest entry to ``register``; what it held moves to the MRF."""
    entry = state.oldest[warp]
    evicted = state.register[warp, entry]
    if evicted != NOBODY:
        state.entry[warp, evicted] = NOBODY
        move(plan, RFC, MRF)
    state.register[warp, entry] = register
    state.entry[warp, register] = entry
    state.oldest[warp] = entry + 1 if entry + 1 < state.entries else 0
