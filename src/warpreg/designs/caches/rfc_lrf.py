"""Register file cache behind a last result file, both in hardware (Gebhart et al., MICRO 2011, section 6.2).

Every result of the private datapath is written to the warp's one-entry LRF; the previous value moves to the RFC, whose
victim moves to the MRF.  When the warp leaves the active set both are written back.  With static liveness, dead values
are not moved.  The SFU, memory and texture units cannot read the LRF.  A stage checks the tags of the RFC, as in ISCA
2011 (section 3.1).

Where the paper is silent:
- a value that the shared datapath may read is written to the RFC instead of the LRF (the paper leaves this to its
  compiler); so are results of the shared datapath and results of several words, which one entry cannot hold;
- results of long-latency operations go to the MRF, as in the register file cache of ISCA 2011 (section 3.3);
- if the shared datapath reads a register that is in the LRF, lanes of the other side of a branch wrote it: the reading
  lanes have their value in the RFC or MRF;
- a partial result is written where the register is (LRF, else RFC); else it is allocated in the LRF with the lanes that
  it has, and reads of other lanes read the MRF in addition;
- the RFC replaces its oldest entry; the age of a value counts from its move into the RFC.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    READ,
    SHARED,
    Analysis,
    Declaration,
    Plan,
    Program,
    Structure,
    count,
    extra,
    hook,
    move,
    parameter,
    per_warp,
    read,
    source_operands,
    write,
)
from warpreg.designs.parts.hints.long_latency import waits_for_all
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.hints.reads_ahead import shared_reader_flags
from warpreg.designs.parts.storage.warp_cache import (
    DEAD,
    DIRTY,
    EVENTS,
    FLUSHED,
    MERGED_READS,
    NONE,
    RFC,
    drop,
    entry_for,
    flush,
    lanes_after,
    no_entries,
    read_operand,
    write_around,
    write_entry,
)
from warpreg.ir.kernel import Kernel

DESIGN = Declaration(slot="levels", levels=("MRF", "RFC", "LRF"), events=EVENTS, source="orf-lrf §3.2, §6.2")
LRF = 2


@dataclass(frozen=True)
class Parameters:
    """Parameters of the hierarchy."""

    entries: int = parameter(
        6, unit="entries of the RFC per thread", low=0, high=16, source="orf-lrf §6.2: 6 is best; 0 is no RFC"
    )
    static_liveness: bool = parameter(True, source="orf-lrf §6.2: dead values are not written back")
    tag_check: bool = parameter(
        True, source="rfc §3.1: a stage that checks the tags; branches resolve a cycle later (no effect on counts)"
    )
    waits: str = parameter(
        "needed",
        choices=("needed", "all"),
        source="rfc §3.2: suspended where a long-latency result is needed; orf-lrf §4.1: until all have arrived",
    )
    around_long_latency: bool = parameter(True, source="rfc §3.3: results of long-latency operations go to the MRF")
    partial: str = parameter(
        "merge", choices=("merge", "ignore"), source="assumed: lanes that an entry lacks are read from the MRF with it"
    )


class Hints(NamedTuple):
    """Hints of the design's own, by result operand: ``shared_reader`` (the shared datapath may read it)."""

    shared_reader: NDArray[np.uint8]


class State(NamedTuple):
    """Switches, the LRF, and the entries of a warp as in :mod:`warpreg.designs.parts.storage.warp_cache`."""

    entries: int
    lru: bool
    elide_dead: bool
    idle_first: bool
    fill_partial: bool
    around_long_latency: bool
    last: NDArray[np.int32]
    """By warp: the register in the LRF, NONE if it is empty."""
    last_lanes: NDArray[np.uint32]
    """By warp: the lanes that the LRF holds."""
    last_flags: NDArray[np.uint8]
    """By warp: the flags of the LRF."""
    entry: NDArray[np.int8]
    """By warp [register]: its entry, NONE without one."""
    register: NDArray[np.int32]
    """By warp [entry]: its register, NONE if it is empty."""
    order: NDArray[np.uint64]
    """By warp: the entries by age."""
    lanes: NDArray[np.uint32]
    """By warp [entry]: the lanes that it holds."""
    flags: NDArray[np.uint8]
    """By warp [entry]."""


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Fill the hint columns of partial results and of suspensions."""
    if parameters.waits == "all":
        program = program._replace(suspends=waits_for_all(kernel, program.long_latency))
    return program if parameters.partial == "ignore" else program._replace(result_partial=partial_flags(kernel))


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> Hints:
    """The readers of each result."""
    return Hints(shared_reader_flags(program, analysis.kernel))


def init(parameters: Parameters, program: Program) -> State:
    """An empty LRF and RFC for each warp."""
    return State(
        entries=parameters.entries,
        lru=False,
        elide_dead=parameters.static_liveness,
        idle_first=False,
        fill_partial=False,
        around_long_latency=parameters.around_long_latency,
        last=per_warp(np.int32(NONE)),
        last_lanes=per_warp(np.uint32(0)),
        last_flags=per_warp(np.uint8(0)),
        **{name: per_warp(row) for name, row in no_entries(program, parameters.entries).items()},
    )


def stages(parameters: Parameters) -> int:
    """The check of the tags of the RFC, if there are any."""
    return int(parameters.tag_check and parameters.entries > 0)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; the technology sets how many warps share a bank."""
    return Structure("MRF"), Structure("RFC", entries=parameters.entries), Structure("LRF", entries=1)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        if state.last[warp] == program.source[operand] and plan.datapath != SHARED:
            read_last(state, program, warp, operand, plan)
        else:
            read_operand(state, program, warp, operand, plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    first, end = program.result_start[pc], program.result_start[pc + 1]
    for operand in range(first, end):
        partial = program.result_partial[operand] != 0
        if state.around_long_latency and program.long_latency[pc]:
            leave_last(state, warp, program.result[operand], partial, MRF, plan)
            write_around(state, program, warp, operand, plan)
        elif end - first > 1 or plan.datapath == SHARED or program.hints.shared_reader[operand]:
            write_below(state, program, warp, pc, operand, plan)
        elif partial and state.entry[warp, program.result[operand]] != NONE:
            write_entry(state, program, warp, pc, operand, plan)
        else:
            write_last(state, program, warp, pc, operand, plan)


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.last[warp] != NONE:
        if last_is_needed(state, warp):
            count(plan, FLUSHED)
            move(plan, LRF, MRF, state.last[warp])
        state.last[warp] = NONE
    flush(state, warp, plan)


def read_last(state: State, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Read a source operand that the LRF holds."""
    read(plan, operand, LRF)
    if plan.mask & ~state.last_lanes[warp]:
        extra(plan, MRF, READ, program.source[operand])
        count(plan, MERGED_READS)
    if program.last_read[operand]:
        state.last_flags[warp] |= DEAD


def write_below(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """Write a result that the LRF may not hold to the RFC, or to the MRF if there is no RFC."""
    below = RFC if state.entries > 0 else MRF
    leave_last(state, warp, program.result[operand], program.result_partial[operand] != 0, below, plan)
    if state.entries > 0:
        write_entry(state, program, warp, pc, operand, plan)
    else:
        write(plan, operand, MRF)


def write_last(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """Write a result to the LRF."""
    register = program.result[operand]
    if state.last[warp] != register:
        displace_last(state, warp, RFC if state.entries > 0 else MRF, plan)
        state.last_lanes[warp] = 0
        if state.entry[warp, register] != NONE:
            drop(state, warp, state.entry[warp, register])
    write(plan, operand, LRF)
    state.last[warp] = register
    state.last_lanes[warp] = lanes_after(state.last_lanes[warp], program, pc, operand, plan.mask)
    state.last_flags[warp] = DIRTY


def leave_last(state: State, warp: int, register: int, partial: bool, below: int, plan: Plan) -> None:
    """Remove a register from the LRF before it is written elsewhere; after a partial write its value moves."""
    if state.last[warp] == register:
        if partial:
            displace_last(state, warp, below, plan)
        state.last[warp] = NONE


def displace_last(state: State, warp: int, below: int, plan: Plan) -> None:
    """Move the LRF's value to the next level if it may still be read."""
    register = state.last[warp]
    if register == NONE or not last_is_needed(state, warp):
        return
    move(plan, LRF, below, register)
    if below == RFC:
        entry = entry_for(state, warp, register, plan)
        state.lanes[warp, entry] = state.last_lanes[warp]
        state.flags[warp, entry] = state.last_flags[warp]


def last_is_needed(state: State, warp: int) -> bool:
    """Whether the value in the LRF may still be read."""
    return not (state.elide_dead and state.last_flags[warp] & DEAD != 0)
