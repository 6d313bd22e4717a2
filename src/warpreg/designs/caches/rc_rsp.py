"""Hybrid of register cache and register scratchpad (Bailey et al., CASES 2018, section III-A1).

The compiler maps registers to the scratchpad strand by strand, as for ``rsp``; all other accesses go to the cache of
``rc``, then to the MRF.  In the ``hierarchy`` the cache backs the scratchpad: fills read the cache, and results that
outlive their range are also written to it.  In the two ``parallel`` variants of section IV-D the MRF backs both: with
``parallel-evict`` the cache evicts its copy of a register before the scratchpad gets it; with ``parallel-apart`` only
values that live entirely in the scratchpad are placed there.

Where the paper is silent:
- to weigh ranges, the compiler prices an access of the backing store as if a share ``backing_hits`` hit the cache;
- the last read of a value from the scratchpad frees its cache line too;
- a full write to the scratchpad drops the stale copy in the cache; a partial write evicts it;
- with ``allocate_sources``, which the paper has tried and rejected, every source that the cache is asked for and misses
  enters, also one that fills the scratchpad;
- ``brief_last``, the low priority of accesses in immediate succession that the paper has tried and found negligible
  (section III-A2), places ranges whose accesses directly follow each other after all others; the allocator of
  `orf-lrf` knows no such order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg import energy
from warpreg.designs.caches import rc
from warpreg.designs.caches.rc import State
from warpreg.designs.interface import (
    MRF,
    WRITE,
    Declaration,
    Plan,
    Program,
    Room,
    Structure,
    extra,
    hook,
    nowhere,
    parameter,
    read,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.parts.placement.costs import LevelCost, level_costs
from warpreg.designs.parts.placement.encode import encode, reasons
from warpreg.designs.parts.placement.hierarchy import Placement
from warpreg.designs.parts.placement.scratchpad import (
    ALLOCATORS,
    RULES,
    ScratchpadOptions,
    check_in_time,
    place_in_scratchpad,
)
from warpreg.ir.kernel import Kernel

DESIGN = Declaration(
    slot="levels",
    levels=("MRF", "RC", "RSP"),
    order="scheduler",
    events=rc.DESIGN.events,
    technology="rc-rsp-28nm",
    source="rc-rsp §III-A1, §IV-D",
)
RC, RSP = 1, 2
ORGANISATIONS = ("hierarchy", "parallel-evict", "parallel-apart")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the hybrid."""

    lines: int = parameter(
        16,
        unit="warp-registers per scheduler",
        low=0,
        high=512,
        off=0,
        source="rc-rsp §III-A4: 8 KB per SM of 4 schedulers",
    )
    entries: int = parameter(
        2, unit="registers per active warp", low=0, high=16, off=0, source="rc-rsp §III-A4: 4 KB per SM, 2 KB each"
    )
    organisation: str = parameter("hierarchy", choices=ORGANISATIONS, source="rc-rsp §III-A1, §IV-D")
    backing_hits: float = parameter(
        0.5, low=0, high=1, source="assumed: rc-rsp §IV-C prints the cache's read hit rate in the hybrid, 51.3%"
    )
    allocator: str = parameter(
        "rc-rsp", choices=ALLOCATORS, source="rc-rsp §III-B, orf-lrf §4.2 and §4.3: whose choice among the candidates"
    )
    shortening: str = parameter(
        "full", choices=("full", "tail"), source="rc-rsp §III-B; tail: orf-lrf §4.3, whose allocator has no other"
    )
    several_writes: bool = parameter(True, source="rc-rsp §III-B; off: one write a range, as in orf-lrf")
    brief_last: bool = parameter(False, source="rc-rsp §III-A2: tried in the scratchpad and found negligible")
    strands: str = parameter("rc-rsp", choices=tuple(RULES), source="rc-rsp §III-B, orf-lrf §4.1: whose strands")
    flush_at_barriers: bool = parameter(
        True,
        source="assumed: rc-rsp §III-B lists no barriers, but a warp that waits at one frees its slot; off: in replays",
    )
    allocate_sources: bool = parameter(False, source="rc-rsp §III-A2: tried and rejected; sources that miss enter too")
    active_warps: int = parameter(4, unit="warps of a scheduler", low=1, high=64, source="rc-rsp Table I")
    miss_cycles: int = parameter(
        1, unit="cycles", low=0, high=8, source="rc-rsp §IV-D: what a source that misses the cache waits for"
    )
    sets_by: str = parameter(
        "register-and-warp", choices=rc.SETS_BY, source="assumed: rc-rsp names no index of the cache, see rc"
    )
    partial: str = parameter(
        "merge", choices=("merge", "ignore"), source="assumed: lanes that a line lacks are read from the MRF with it"
    )
    technology: str = parameter("rc-rsp-28nm", source="rc-rsp §IV-A: what the compiler takes accesses to cost")


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache."""
    cache = rc.init(
        rc.Parameters(
            lines=parameters.lines,
            active_warps=parameters.active_warps,
            miss_cycles=parameters.miss_cycles,
            sets_by=parameters.sets_by,
            allocate_sources=parameters.allocate_sources,
        ),
        program,
    )
    return cache._replace(backs_scratchpad=parameters.organisation == "hierarchy")


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level."""
    return (
        Structure("MRF"),
        rc.upper_storage("RC", parameters.lines),
        rc.upper_storage("RSP", parameters.entries * parameters.active_warps),
    )


def placement(program: Program, parameters: Parameters, kernel: Kernel) -> Placement:
    """The compiler's mapping to the scratchpad, with reasons."""
    mrf, cache, scratchpad = level_costs(energy.load(parameters.technology), structures(parameters))
    options = ScratchpadOptions(
        cost=scratchpad,
        backing=_mixed(cache, mrf, parameters.backing_hits if parameters.organisation == "hierarchy" else 0.0),
        rules=RULES[parameters.strands](barriers=parameters.flush_at_barriers),
        entries=parameters.entries,
        allocator=parameters.allocator,
        tail_only=parameters.shortening == "tail",
        several_writes=parameters.several_writes,
        brief_last=parameters.brief_last,
        live_out=parameters.organisation != "parallel-apart",
        operands=parameters.organisation != "parallel-apart",
        level=RSP,
    )
    return place_in_scratchpad(kernel, program, options)


def _mixed(cache: LevelCost, mrf: LevelCost, hits: float) -> LevelCost:
    def mean(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
        return hits * first[0] + (1 - hits) * second[0], hits * first[1] + (1 - hits) * second[1]

    return LevelCost(mean(cache.read, mrf.read), mean(cache.write, mrf.write))


def compile(program: Program, parameters: Parameters, kernel: Kernel, room: Room | None = None) -> Program:
    """Fill the hint columns of the scratchpad and of partial results.

    Raises DesignError for a timed run of strands that go on at barriers.
    """
    check_in_time("rc-rsp", room, flush_at_barriers=parameters.flush_at_barriers)
    hinted = encode(program, kernel, placement(program, parameters, kernel))
    return rc.compile(hinted, rc.Parameters(partial=parameters.partial), kernel)


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, why a strand begins, and the decisions about values that are written or filled there."""
    return reasons(placement(program, parameters, kernel), DESIGN.levels)


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    rc.warp_start(state, program, warp, plan)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    rc.warp_end(state, program, warp, plan)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    cache = rc.cache_of(state, warp)
    for operand in source_operands(program, pc):
        register = program.source[operand]
        if program.source_level[operand] == RSP:
            read(plan, operand, RSP)
            if state.dies[operand]:
                drop_copy(state, cache, warp, register, plan, False)
        elif program.fill_level[operand] == RSP and not state.backs_scratchpad:
            drop_copy(state, cache, warp, register, plan, True)
            read(plan, operand, MRF)
        else:
            rc.read_operand(state, program, cache, warp, operand, plan)
        if program.fill_level[operand] == RSP:
            extra(plan, RSP, WRITE, register)
    if state.allocate_sources and state.sets > 0:
        for operand in source_operands(program, pc):
            if asks_cache(state, program, operand) and not program.last_read[operand]:
                rc.fill(state, cache, warp, program.source[operand], plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    cache = rc.cache_of(state, warp)
    for operand in result_operands(program, pc):
        above, below = program.result_level[operand] == RSP, program.mrf_elided[operand] == 0
        if above:
            write(plan, operand, RSP)
        if goes_to_cache(state, program, operand):
            rc.take_result(state, program, cache, warp, pc, operand, plan)
            if program.long_latency[pc] and not above:
                nowhere(plan, operand)
            continue
        if above:
            drop_copy(state, cache, warp, program.result[operand], plan, program.result_partial[operand] != 0)
        if below:
            write(plan, operand, MRF)
        elif not above:
            nowhere(plan, operand)


@hook
def arrived(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    cache = rc.cache_of(state, warp)
    for operand in result_operands(program, pc):
        if goes_to_cache(state, program, operand):
            rc.land(state, program, cache, warp, pc, operand, plan)


def asks_cache(state: State, program: Program, operand: int) -> bool:
    """Whether a source is looked up in the cache."""
    is_fill = program.fill_level[operand] == RSP
    return program.source_level[operand] != RSP and (state.backs_scratchpad or not is_fill)


def goes_to_cache(state: State, program: Program, operand: int) -> bool:
    """Whether a result is written to the cache."""
    above, below = program.result_level[operand] == RSP, program.mrf_elided[operand] == 0
    return below and (state.backs_scratchpad or not above) and state.sets > 0


def drop_copy(state: State, cache: rc.Cache, warp: int, register: int, plan: Plan, is_needed: bool) -> None:
    """Drop the cache's copy of a register; write it back first if it is dirty and ``is_needed``."""
    found = rc.look_up(state, cache, warp, register)
    if found.hits:
        if is_needed:
            rc.write_back(found.line, plan)
        rc.put(cache, found.place, rc.EMPTY, found.other)
