"""Register file cache in hardware: a few entries for each warp, allocated on write (Gebhart et al., ISCA 2011).

Each warp owns ``entries`` entries of one warp-register; its 32 lanes move together and the register number is the tag.
A source that hits is read from the RFC, any other from the MRF, and a miss does not fill.  Every result is written to
the RFC: in place if the register is present, else to a new entry, whose old content first moves to the MRF (sections
3.1, 5.1).  When the warp leaves the active set its entries are flushed (section 3.3).  The parameters add the paper's
variants.  Its combined architecture (section 5.3) is ``static_liveness`` and ``around_long_latency``; its extension
adds ``bypass_idle`` and ``idle_first``.  In time, a stage checks the tags before operands are fetched: dependent
instructions issue as before, and a branch resolves a cycle later (section 3.1).

Where the paper is silent:
- an overwrite in place does not change the entry's FIFO age; with LRU the entry becomes the youngest;
- an empty entry is used before any other; of several dead or idle ones the oldest is evicted first;
- a dead value stays in its entry until the entry is reused, and is a preferred victim only with ``idle_first``;
- entries of a warp that has ended are dropped: nothing can read them;
- a result under a guard or in divergent code fills only some lanes.  If an instruction reads others, the MRF is read in
  addition to the RFC (``partial``);
- with ``allocate_sources``, sources that missed are allocated in operand order after all sources of the instruction are
  read; with ``static_liveness`` a value that was read for the last time is not allocated;
- results that bypass the cache write the MRF, and an older entry of the register is dropped;
- the results of one instruction (the halves of a pair, the elements of a vector) are allocated in register order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    WRITE,
    Analysis,
    Declaration,
    Plan,
    Program,
    Structure,
    count,
    extra,
    hook,
    parameter,
    per_warp,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.parts.hints.long_latency import waits_for_all
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.hints.reads_ahead import backward_flags, idle_flags
from warpreg.designs.parts.storage.warp_cache import (
    ALL_LANES,
    EVENTS,
    FILLS,
    NONE,
    RFC,
    entry_for,
    flush,
    no_entries,
    read_operand,
    write_around,
    write_entry,
)
from warpreg.ir.kernel import Kernel

DESIGN = Declaration(slot="levels", levels=("MRF", "RFC"), events=EVENTS, source="rfc §3.1, §3.3, §5.1, §5.3")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the register file cache."""

    entries: int = parameter(
        6, unit="entries per thread", low=0, high=16, off=0, source="rfc §5.1: swept, 6 chosen; 0 is the MRF alone"
    )
    replacement: str = parameter("fifo", choices=("fifo", "lru"), source="rfc §3.1: FIFO chosen, LRU gains 1-2%")
    allocate_sources: bool = parameter(False, source="rfc §3.1: tried and rejected; sources that miss enter clean")
    static_liveness: bool = parameter(
        False, source="rfc §3.1, §5.1: values read for the last time are not written back"
    )
    around_long_latency: bool = parameter(False, source="rfc §3.3: results of long-latency operations go to the MRF")
    bypass_idle: bool = parameter(
        False, source="rfc §5.3: results that nothing reads before the warp may next suspend go to the MRF"
    )
    idle_first: bool = parameter(
        False, source="rfc §5.3: evict first what nothing reads before the warp may next suspend"
    )
    partial: str = parameter(
        "merge",
        choices=("merge", "fill", "ignore"),
        source="assumed: lanes that it lacks come from the MRF when they are read (merge) or when it is made (fill)",
    )
    tag_check: bool = parameter(
        True, source="rfc §3.1: a stage that checks the tags; branches resolve a cycle later (no effect on counts)"
    )
    waits: str = parameter(
        "needed",
        choices=("needed", "all"),
        source="rfc §3.2: suspended where a long-latency result is needed; orf-lrf §4.1: until all have arrived",
    )
    flush_backward: bool = parameter(False, source="orf-lrf §7: a variant that flushes at backward branches, 5% worse")


class Hints(NamedTuple):
    """Hints of the design's own, by pc: ``backward`` (it may branch backward)."""

    backward: NDArray[np.uint8]


class State(NamedTuple):
    """Switches, which are parameters, and the warp's entries as in :mod:`warpreg.designs.parts.storage.warp_cache`."""

    entries: int
    lru: bool
    elide_dead: bool
    idle_first: bool
    fill_partial: bool
    allocate_sources: bool
    around_long_latency: bool
    bypass_idle: bool
    flush_backward: bool
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
    """The hints that the chosen options need."""
    if parameters.waits == "all":
        program = program._replace(suspends=waits_for_all(kernel, program.long_latency))
    if parameters.bypass_idle or parameters.idle_first:
        sources, results = idle_flags(program, kernel)
        program = program._replace(source_idle=sources, result_idle=results)
    if parameters.partial != "ignore":
        program = program._replace(result_partial=partial_flags(kernel))
    return program


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> Hints:
    """Backward branches, if the chosen options need them."""
    flags = backward_flags(analysis.kernel)
    return Hints(flags if parameters.flush_backward else np.zeros_like(flags))


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache for each warp."""
    return State(
        entries=parameters.entries,
        lru=parameters.replacement == "lru",
        elide_dead=parameters.static_liveness,
        idle_first=parameters.idle_first,
        fill_partial=parameters.partial == "fill",
        allocate_sources=parameters.allocate_sources and parameters.entries > 0,
        around_long_latency=parameters.around_long_latency,
        bypass_idle=parameters.bypass_idle,
        flush_backward=parameters.flush_backward,
        **{name: per_warp(row) for name, row in no_entries(program, parameters.entries).items()},
    )


def stages(parameters: Parameters) -> int:
    """The check of the tags, if there are any."""
    return int(parameters.tag_check and parameters.entries > 0)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; the technology sets how many warps share an RFC bank (8, the paper's active warps)."""
    return Structure("MRF"), Structure("RFC", entries=parameters.entries)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        read_operand(state, program, warp, operand, plan)
    if state.allocate_sources:
        for operand in source_operands(program, pc):
            dying = state.elide_dead and program.last_read[operand]
            if state.entry[warp, program.source[operand]] == NONE and not dying:
                fill(state, warp, program.source[operand], plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        if state.entries == 0:
            write(plan, operand, MRF)
        elif bypasses(state, program, pc, operand):
            write_around(state, program, warp, operand, plan)
        else:
            write_entry(state, program, warp, pc, operand, plan)
    if state.flush_backward and program.hints.backward[pc]:
        flush(state, warp, plan)


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    flush(state, warp, plan)


def bypasses(state: State, program: Program, pc: int, operand: int) -> bool:
    """Whether a result bypasses the cache."""
    late = state.around_long_latency and program.long_latency[pc] != 0
    return late or (state.bypass_idle and program.result_idle[operand] != 0)


def fill(state: State, warp: int, register: int, plan: Plan) -> None:
    """Allocate a clean entry for a source that was read from the MRF."""
    entry = entry_for(state, warp, register, plan)
    state.lanes[warp, entry] = ALL_LANES
    extra(plan, RFC, WRITE, register)
    count(plan, FILLS)
