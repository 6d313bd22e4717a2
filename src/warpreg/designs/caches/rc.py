"""Register cache that the warps of a scheduler share (Bailey et al., CASES 2018, section III-A).

Each scheduler has ``lines`` lines of one warp-register, two to a set, replaced by LRU and shared by all of its warps.
Every result is allocated, that of a long-latency instruction when it arrives; a source that hits is read from the RC,
any other from the MRF, and a miss does not fill.  The last read of a value frees its line.  Evicted values move to the
MRF.  With ``private`` every active warp has its own equal part of the lines (Figure 4).

Where the paper is silent:
- results of other instructions take a few cycles, and are allocated in the order of issue;
- the set is that of the register's number plus the warp's number in its scheduler, modulo the sets (``sets_by``);
- lines of a warp that leaves the active set stay until LRU replaces them; private parts are flushed, because the next
  active warp uses them, and a warp that is not active has none, so results that arrive for it go to the MRF;
- a result under a guard or in divergent code fills only some lanes; if an instruction reads others, the MRF is read in
  addition to the RC (``partial``);
- lines of a warp that has ended are dropped: nothing can read them;
- with ``allocate_sources``, sources that missed are allocated clean, in operand order, after all sources of the
  instruction are read, except values that have just died;
- ``brief_first`` is ours: a value that only the next instruction reads is inserted as the least recently used of its
  set.  The paper gives such values a low priority in the scratchpad of the hybrid (`rc-rsp`, ``brief_last``).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    READ,
    UNSET,
    WRITE,
    ArraySpec,
    Declaration,
    Plan,
    Program,
    Structure,
    count,
    extra,
    hook,
    move,
    nowhere,
    parameter,
    per_scheduler,
    per_warp,
    read,
    result_operands,
    scheduler_of,
    source_operands,
    write,
)
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.hints.reads_ahead import brief_flags
from warpreg.designs.parts.storage.warp_cache import ALL_LANES, MERGED_READS, NONE, lanes_after
from warpreg.ir.kernel import Kernel

DESIGN = Declaration(
    slot="levels",
    levels=("MRF", "RC"),
    order="scheduler",
    events=("merged_reads", "fills", "flushed", "without_part"),
    technology="rc-rsp-28nm",
    source="rc-rsp §II-C, §III-A, Table I",
)
RC = 1
FILLS, FLUSHED, WITHOUT_PART = 1, 2, 3
WAYS = 2
SETS_BY = ("register-and-warp", "register")
DIRTY, LACKING = 1, 2
"""Flags of a line, the lowest bits of its word: the MRF does not hold its value; lanes that may be read are missing."""
FLAGS, FLAG_BITS, REGISTER_BITS = DIRTY | LACKING, 2, 16
EMPTY = NONE << FLAG_BITS
"""The word of a line without a register."""


@dataclass(frozen=True)
class Parameters:
    """Parameters of the register cache."""

    lines: int = parameter(
        24,
        unit="warp-registers per scheduler",
        low=0,
        high=512,
        off=0,
        source="rc-rsp §III-A4, Table I: 12 KB per SM of 4 schedulers in lines of 128 B; 0 is the MRF alone",
    )
    private: bool = parameter(False, source="rc-rsp Fig 4: a part for each active warp, against sharing")
    active_warps: int = parameter(
        4, unit="parts of a scheduler's lines, if private", low=1, high=64, source="rc-rsp Table I"
    )
    allocate_sources: bool = parameter(False, source="rc-rsp §III-A2: tried and rejected; sources that miss enter too")
    miss_cycles: int = parameter(
        1, unit="cycles", low=0, high=8, source="rc-rsp §IV-D: what a source that misses waits for, besides the MRF"
    )
    brief_first: bool = parameter(
        False, source="assumed: not in the paper; §III-A2 lowers the priority of such values in the scratchpad alone"
    )
    sets_by: str = parameter(
        "register-and-warp",
        choices=SETS_BY,
        source="assumed: rc-rsp names no index; by the register alone warps in the same code meet in a set",
    )
    partial: str = parameter(
        "merge", choices=("merge", "ignore"), source="assumed: lanes that a line lacks are read from the MRF with it"
    )


class State(NamedTuple):
    """The lines of a scheduler's cache, and who uses them."""

    sets: int
    """Of the cache or of a part."""
    miss_cycles: int
    """Of a source that misses."""
    private: bool
    shifted: bool
    """The warp's number is part of the index."""
    allocate_sources: bool
    brief_first: bool
    backs_scratchpad: bool
    """For the hybrid design."""
    brief: NDArray[np.uint8]
    """By result, as in `brief_flags`."""
    dies: NDArray[np.uint8]
    """By source: the operand is the last of its instruction to read a value that nothing else reads."""
    place: NDArray[np.uint32]
    """[shift + register]: the first of the two lines of a set."""
    line: NDArray[np.int64]
    """By scheduler [line]: the owner of each line and its flags, in a set the most recently used line first."""
    taken: NDArray[np.uint8]
    """By scheduler [part]."""
    scheduler: NDArray[np.uint32]
    """By warp."""
    part: NDArray[np.int16]
    """By warp, NONE without one."""
    shift: NDArray[np.uint32]
    """By warp."""
    lanes: NDArray[np.uint32]
    """By warp [register]: held by a LACKING line of the register."""
    coming: NDArray[np.uint32]
    """By warp [register]: the lanes of an outstanding result."""


class Cache(NamedTuple):
    """A warp's view of its scheduler's cache: all ``lines``, and the shift of its set index."""

    lines: NDArray[np.int64]
    shift: int


class Set(NamedTuple):
    """Two lines, from number ``place`` on: ``line`` is the register's if it ``hits``, else the most recent one."""

    place: int
    line: int
    other: int
    hits: bool


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Fill the hint column of partial results."""
    return program if parameters.partial == "ignore" else program._replace(result_partial=partial_flags(kernel))


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache for each scheduler."""
    parts = parameters.active_warps if parameters.private else 1
    sets = parameters.lines // parts // WAYS
    rows = max(1, sets * parts)
    return State(
        sets=sets,
        miss_cycles=parameters.miss_cycles if sets else 0,
        private=parameters.private,
        shifted=sets > 0 and not parameters.private and parameters.sets_by == "register-and-warp",
        allocate_sources=parameters.allocate_sources,
        brief_first=parameters.brief_first,
        backs_scratchpad=False,
        brief=brief_flags(program) if parameters.brief_first else np.zeros_like(program.result_partial),
        dies=dying_operands(program),
        place=places(program.register_count, max(1, sets), parts if parameters.private else 0),
        line=per_scheduler(np.full(rows * WAYS, EMPTY, np.int64)),
        taken=per_scheduler(np.zeros(parts, np.uint8)),
        scheduler=per_warp(np.uint32(0)),
        part=per_warp(np.int16(NONE)),
        shift=per_warp(np.uint32(0)),
        lanes=per_warp(np.zeros(program.register_count, np.uint32)),
        coming=per_warp(np.zeros(program.register_count, np.uint32)),
    )


def places(registers: int, sets: int, parts: int) -> NDArray[np.uint32]:
    """The first line of a register's set, indexed by warp shift + register; the shift selects a set, or, if there are
    ``parts``, a part.
    """
    numbers = np.arange(registers + sets) % sets
    if parts:
        part, register = np.divmod(np.arange(parts * registers), registers)
        numbers = part * sets + register % sets
    return np.asarray(numbers * WAYS, np.uint32)


def dying_operands(program: Program) -> NDArray[np.uint8]:
    """Per source operand, whether its value is dead once it is read: a last read, and no later operand of the same
    instruction reads the register."""
    flags = program.last_read.copy()
    for first, end in pairwise(program.source_start.tolist()):
        registers = program.source[first:end].tolist()
        for place, register in enumerate(registers):
            if register in registers[place + 1 :]:
                flags[first + place] = 0
    return flags


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level."""
    return Structure("MRF"), upper_storage("RC", parameters.lines)


def upper_storage(level: str, lines: int) -> Structure:
    """A store of a scheduler with ``lines`` warp-registers.

    A technology that lacks the level takes eight banks of 128 bits side by side, at the distance of an RFC from the
    lanes.
    """
    bank = ArraySpec("sram", words=max(1, lines), word_bits=128, read_ports=6, write_ports=2, banks=8)
    return Structure(
        level, entries=lines, warps=1, array=bank, private_mm=0.2, shared_mm=0.4, per="scheduler", yields=True
    )


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    state.scheduler[warp] = scheduler_of(program, warp)
    if state.shifted:
        state.shift[warp] = warp % program.slots // program.schedulers % state.sets


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.private and state.sets > 0:
        scheduler = state.scheduler[warp]
        for part in range(state.taken.shape[1]):
            if state.taken[scheduler, part] == 0:
                state.taken[scheduler, part] = 1
                state.part[warp] = part
                state.shift[warp] = part * program.register_count
                break


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.part[warp] != NONE:
        scheduler, first = state.scheduler[warp], state.part[warp] * state.sets * WAYS
        for line in range(first, first + state.sets * WAYS):
            if state.line[scheduler, line] & DIRTY:
                count(plan, FLUSHED)
            write_back(state.line[scheduler, line], plan)
            state.line[scheduler, line] = EMPTY
        release(state, warp)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    scheduler = state.scheduler[warp]
    for line in range(state.line.shape[1]):
        if state.line[scheduler, line] >> FLAG_BITS + REGISTER_BITS == warp:
            state.line[scheduler, line] = EMPTY
    release(state, warp)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    cache = cache_of(state, warp)
    for operand in source_operands(program, pc):
        read_operand(state, program, cache, warp, operand, plan)
    if state.allocate_sources and has_lines(state, warp):
        for operand in source_operands(program, pc):
            if not program.last_read[operand]:
                fill(state, cache, warp, program.source[operand], plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    cache = cache_of(state, warp)
    for operand in result_operands(program, pc):
        if state.sets > 0:
            take_result(state, program, cache, warp, pc, operand, plan)
            if program.long_latency[pc]:
                nowhere(plan, operand)
        else:
            write(plan, operand, MRF)


@hook
def arrived(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.sets > 0:
        cache = cache_of(state, warp)
        for operand in result_operands(program, pc):
            land(state, program, cache, warp, pc, operand, plan)


def has_lines(state: State, warp: int) -> bool:
    """Whether the warp has lines that it may use."""
    return state.sets > 0 and (not state.private or state.part[warp] != NONE)


def cache_of(state: State, warp: int) -> Cache:
    """The cache that a warp uses."""
    return Cache(state.line[state.scheduler[warp]], state.shift[warp])


def read_operand(state: State, program: Program, cache: Cache, warp: int, operand: int, plan: Plan) -> None:
    """Read a source operand, from its line if it hits; the last read frees the line."""
    register = program.source[operand]
    cache_set = look_up(state, cache, warp, register)
    read(plan, operand, RC if cache_set.hits else MRF, cycles=UNSET if cache_set.hits else 1 + state.miss_cycles)
    if cache_set.hits and cache_set.line & LACKING and plan.mask & ~state.lanes[warp, register]:
        extra(plan, MRF, READ, register)
        count(plan, MERGED_READS)
    leaves = cache_set.hits & (state.dies[operand] != 0)
    put(cache, cache_set.place, EMPTY if leaves else cache_set.line, cache_set.other)


def take_result(state: State, program: Program, cache: Cache, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """Allocate a result at issue, or record it until it arrives if long-latency; without lines it goes to the MRF."""
    if program.long_latency[pc]:
        state.coming[warp, program.result[operand]] = plan.mask
    elif has_lines(state, warp):
        write(plan, operand, RC)
        write_line(state, program, cache, warp, pc, operand, plan.mask, plan)
    else:
        write(plan, operand, MRF)
        count(plan, WITHOUT_PART)


def land(state: State, program: Program, cache: Cache, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """Allocate a long-latency result on arrival; without lines it goes to the MRF."""
    register = program.result[operand]
    if has_lines(state, warp):
        extra(plan, RC, WRITE, register)
        write_line(state, program, cache, warp, pc, operand, state.coming[warp, register], plan)
    else:
        extra(plan, MRF, WRITE, register)
        count(plan, WITHOUT_PART)


def write_line(
    state: State, program: Program, cache: Cache, warp: int, pc: int, operand: int, lanes: int | np.uint32, plan: Plan
) -> None:
    """Write lanes of a result to its line, or allocate one."""
    register = program.result[operand]
    cache_set = look_up(state, cache, warp, register)
    other = make_room(cache_set, plan)
    word = word_of(warp, register) | DIRTY
    if program.result_partial[operand]:
        held = (state.lanes[warp, register] if cache_set.line & LACKING else ALL_LANES) if cache_set.hits else 0
        state.lanes[warp, register] = lanes_after(held, program, pc, operand, lanes)
        if state.lanes[warp, register] != ALL_LANES:
            word |= LACKING
    if state.brief_first and state.brief[operand]:
        put(cache, cache_set.place, other, word)
    else:
        put(cache, cache_set.place, word, other)


def fill(state: State, cache: Cache, warp: int, register: int, plan: Plan) -> None:
    """Allocate a clean line for a source that was read from the MRF."""
    cache_set = look_up(state, cache, warp, register)
    if not cache_set.hits:
        put(cache, cache_set.place, word_of(warp, register), make_room(cache_set, plan))
        extra(plan, RC, WRITE, register)
        count(plan, FILLS)


def word_of(warp: int, register: int) -> int:
    """The word of a clean line with all lanes of a register."""
    return int((np.int64(warp) << REGISTER_BITS | register) << FLAG_BITS)


def look_up(state: State, cache: Cache, warp: int, register: int) -> Set:
    """The set of a register."""
    place, tag = int(state.place[cache.shift + register]), word_of(warp, register)
    line, other = cache.lines[place], cache.lines[place + 1]
    if other & ~FLAGS == tag:
        line, other = other, line
    return Set(place, line, other, line & ~FLAGS == tag)


def put(cache: Cache, place: int, line: int, other: int) -> None:
    """Store the lines of a set, the most recently used one first."""
    cache.lines[place] = line
    cache.lines[place + 1] = other


def make_room(cache_set: Set, plan: Plan) -> int:
    """Free a line of a set for a register; returns the line that stays.  The register's own line, an empty one or the
    least recently used one is freed."""
    has_room = cache_set.hits | (cache_set.line == EMPTY)
    write_back(cache_set.other, plan, not has_room)
    return cache_set.other if has_room else cache_set.line


def write_back(line: int, plan: Plan, goes: bool = True) -> None:
    """Write a line back to the MRF if it is dirty and ``goes``."""
    register, warp = line >> FLAG_BITS & (1 << REGISTER_BITS) - 1, line >> FLAG_BITS + REGISTER_BITS
    move(plan, RC, MRF, register, warp, amount=line & DIRTY & goes)


def release(state: State, warp: int) -> None:
    """Release the warp's part."""
    if state.part[warp] != NONE:
        state.taken[state.scheduler[warp], state.part[warp]] = 0
        state.part[warp] = NONE
