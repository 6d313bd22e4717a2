"""Register cache that the warps of a scheduler share (Bailey et al., CASES 2018, section III-A).

Each scheduler has ``lines`` lines of one warp-register, two to a set, replaced by LRU and shared by all of its warps.
Every result enters; a source that is present is read from the RC, any other from the MRF, and a miss does not fill.  A
value that is read for the last time leaves the cache with that read.  What is evicted moves to the MRF.  With
``private`` every active warp has an equal part of the lines to itself instead (Figure 4).

Where the paper is silent:
- the set is that of the register's number plus the warp's number in its scheduler, modulo the sets;
- lines of a warp that leaves the active set stay until others need them, as LRU does it; private parts are flushed,
  for the next active warp gets them, and a warp that is not active has none;
- a result under a guard or in divergent code holds only some lanes; if an instruction reads others, they come from the
  MRF beside the read of the RC (``partial``);
- what a warp leaves behind when it ends is dropped: nothing can read it;
- with ``allocate_sources``, sources that missed enter clean, in operand order, after all sources of the instruction are
  read, but for values that have just died;
- ``brief_first`` applies to the cache what the paper tries on the scratchpad (section III-A2): a value that only the
  next instruction reads enters as the least recently used of its set.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    READ,
    WRITE,
    Declaration,
    Plan,
    Program,
    Structure,
    count,
    extra,
    hook,
    move,
    parameter,
    per_scheduler,
    per_warp,
    read,
    scheduler_of,
    write,
)
from warpreg.designs.partial_results import partial_flags
from warpreg.designs.reads_ahead import brief_flags
from warpreg.designs.warp_cache import ALL_LANES, DEAD, DIRTY, MERGED_READS, NOBODY, lanes_after
from warpreg.energy.array import ArraySpec
from warpreg.ir.kernel import Kernel

DESIGN = Declaration(
    slot="levels",
    levels=("MRF", "RC"),
    order="scheduler",
    events=("merged_reads", "fills", "flushed", "without_part"),
    source="rc-rsp §II-C, §III-A, Table I",
)
RC = 1
FILLS, FLUSHED, WITHOUT_PART = 1, 2, 3
WAYS = 2


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    lines: int = parameter(
        24,
        unit="warp-registers per scheduler",
        low=0,
        high=512,
        source="rc-rsp §III-A4, Table I: 12 KB per SM of 4 schedulers in lines of 128 B; 0 is the MRF alone",
    )
    private: bool = parameter(False, source="rc-rsp Fig 4: a part for each active warp, against sharing")
    active_warps: int = parameter(
        4, unit="parts of a scheduler's lines, if private", low=1, high=64, source="rc-rsp Table I"
    )
    allocate_sources: bool = parameter(False, source="rc-rsp §III-A2: tried and rejected; sources that miss enter too")
    brief_first: bool = parameter(
        False, source="assumed: rc-rsp §III-A2 lowers the priority of back-to-back write and read, in the scratchpad"
    )
    partial: str = parameter(
        "merge", choices=("merge", "ignore"), source="assumed: lanes that a line lacks are read from the MRF with it"
    )


class State(NamedTuple):
    """Kernel-wide: ``sets`` of the whole or of a part, and switches; ``brief`` [result] as in `brief_flags`.

    Per scheduler: ``key`` [line] names warp and register, NOBODY where empty; ``lanes`` [line] and ``flags`` [line] as
    in :mod:`warpreg.designs.warp_cache`; ``older`` [set] is the way that was used longest ago; ``taken`` [part].
    Per warp: its ``part``, NOBODY without one.
    """

    sets: int
    private: bool
    allocate_sources: bool
    brief_first: bool
    brief: NDArray[np.uint8]
    key: NDArray[np.int64]
    lanes: NDArray[np.uint32]
    flags: NDArray[np.uint8]
    older: NDArray[np.uint8]
    taken: NDArray[np.uint8]
    part: NDArray[np.int16]


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Which results leave lanes that are needed."""
    return program if parameters.partial == "ignore" else program._replace(result_partial=partial_flags(kernel))


def init(parameters: Parameters, program: Program) -> State:
    """Empty lines; the warps of a scheduler share them."""
    parts = parameters.active_warps if parameters.private else 1
    sets = parameters.lines // parts // WAYS
    rows = max(1, sets * parts)
    return State(
        sets=sets,
        private=parameters.private,
        allocate_sources=parameters.allocate_sources,
        brief_first=parameters.brief_first,
        brief=brief_flags(program),
        key=per_scheduler(np.full(rows * WAYS, NOBODY, np.int64)),
        lanes=per_scheduler(np.zeros(rows * WAYS, np.uint32)),
        flags=per_scheduler(np.zeros(rows * WAYS, np.uint8)),
        older=per_scheduler(np.zeros(rows, np.uint8)),
        taken=per_scheduler(np.zeros(parts, np.uint8)),
        part=per_warp(np.int16(NOBODY)),
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; a line lies in eight banks of 128 bits beside the lanes, as far from them as an RFC."""
    if parameters.lines == 0:
        return Structure("MRF"), Structure("RC", entries=0)
    bank = ArraySpec("sram", words=parameters.lines, word_bits=128, read_ports=6, write_ports=2, banks=8)
    return Structure("MRF"), Structure("RC", array=bank, private_mm=0.2, shared_mm=0.4)


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.private and state.sets > 0:
        scheduler = scheduler_of(program, warp)
        for part in range(state.taken.shape[1]):
            if state.taken[scheduler, part] == 0:
                state.taken[scheduler, part] = 1
                state.part[warp] = part
                break


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.part[warp] != NOBODY:
        first = state.part[warp] * state.sets * WAYS
        for line in range(first, first + state.sets * WAYS):
            if needs_write_back(state, scheduler_of(program, warp), line):
                count(plan, FLUSHED)
            evict(state, program, scheduler_of(program, warp), line, plan)
        release(state, program, warp)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    scheduler = scheduler_of(program, warp)
    for line in range(state.key.shape[1]):
        if state.key[scheduler, line] // program.register_count == warp:
            state.key[scheduler, line] = NOBODY
    release(state, program, warp)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    dying = False
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        dying |= read_operand(state, program, warp, operand, plan)
    if dying:
        scheduler = scheduler_of(program, warp)
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            line = find(state, program, warp, program.source[operand])
            if line != NOBODY and state.flags[scheduler, line] & DEAD:
                state.key[scheduler, line] = NOBODY
    if state.allocate_sources:
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            if not program.last_read[operand]:
                fill(state, program, warp, program.source[operand], plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if set_of(state, program, warp, program.result[operand]) == NOBODY:
            write(plan, operand, MRF)
            count(plan, WITHOUT_PART, 1 if state.sets > 0 else 0)
        else:
            write_line(state, program, warp, pc, operand, plan)


def read_operand(state: State, program: Program, warp: int, operand: int, plan: Plan) -> bool:
    """A source operand, from its line if it has one; whether that line is to go."""
    register = program.source[operand]
    line = find(state, program, warp, register)
    if line == NOBODY:
        read(plan, operand, MRF)
        return False
    scheduler = scheduler_of(program, warp)
    read(plan, operand, RC)
    if plan.mask & ~state.lanes[scheduler, line]:
        extra(plan, MRF, READ, register)
        count(plan, MERGED_READS)
    use(state, scheduler, line)
    if program.last_read[operand]:
        state.flags[scheduler, line] |= DEAD
        return True
    return False


def write_line(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result into its line, or into one of its own."""
    register, scheduler = program.result[operand], scheduler_of(program, warp)
    line = find(state, program, warp, register)
    if line == NOBODY:
        line = line_for(state, program, warp, register, plan)
    write(plan, operand, RC)
    state.lanes[scheduler, line] = lanes_after(state.lanes[scheduler, line], program, pc, operand, plan)
    state.flags[scheduler, line] = DIRTY
    use(state, scheduler, line)
    if state.brief_first and state.brief[operand]:
        state.older[scheduler, line // WAYS] = line % WAYS


def fill(state: State, program: Program, warp: int, register: int, plan: Plan) -> None:
    """A source that was read from the MRF enters clean."""
    if set_of(state, program, warp, register) == NOBODY or find(state, program, warp, register) != NOBODY:
        return
    line, scheduler = line_for(state, program, warp, register, plan), scheduler_of(program, warp)
    state.lanes[scheduler, line] = ALL_LANES
    use(state, scheduler, line)
    extra(plan, RC, WRITE, register)
    count(plan, FILLS)


def set_of(state: State, program: Program, warp: int, register: int) -> int:
    """The set of a register; NOBODY if the warp has no lines."""
    if state.sets == 0:
        return NOBODY
    if state.private:
        part = state.part[warp]
        return NOBODY if part == NOBODY else int(part) * state.sets + register % state.sets
    return (register + warp % program.slots // program.schedulers) % state.sets


def find(state: State, program: Program, warp: int, register: int) -> int:
    """The line of a register, NOBODY if it has none."""
    place = set_of(state, program, warp, register)
    if place == NOBODY:
        return NOBODY
    scheduler, key = scheduler_of(program, warp), warp * program.register_count + register
    for line in range(place * WAYS, place * WAYS + WAYS):
        if state.key[scheduler, line] == key:
            return line
    return NOBODY


def line_for(state: State, program: Program, warp: int, register: int, plan: Plan) -> int:
    """A line for a register that has none: an empty one of its set, else the one that was used longest ago."""
    place, scheduler = set_of(state, program, warp, register), scheduler_of(program, warp)
    line = place * WAYS + int(state.older[scheduler, place])
    for other in range(place * WAYS, place * WAYS + WAYS):
        if state.key[scheduler, other] == NOBODY:
            line = other
    evict(state, program, scheduler, line, plan)
    state.key[scheduler, line] = warp * program.register_count + register
    state.lanes[scheduler, line] = 0
    state.flags[scheduler, line] = 0
    return line


def use(state: State, scheduler: int, line: int) -> None:
    """The line was used last of its set."""
    state.older[scheduler, line // WAYS] = 1 - line % WAYS


def evict(state: State, program: Program, scheduler: int, line: int, plan: Plan) -> None:
    """Empty a line; what the MRF lacks moves there."""
    if needs_write_back(state, scheduler, line):
        warp, register = divmod(state.key[scheduler, line], program.register_count)
        move(plan, RC, MRF, register, warp)
    state.key[scheduler, line] = NOBODY


def needs_write_back(state: State, scheduler: int, line: int) -> bool:
    """Whether a line holds what the MRF lacks."""
    return bool(state.key[scheduler, line] != NOBODY and state.flags[scheduler, line] & DIRTY)


def release(state: State, program: Program, warp: int) -> None:
    """The warp gives up its part."""
    if state.part[warp] != NOBODY:
        state.taken[scheduler_of(program, warp), state.part[warp]] = 0
        state.part[warp] = NOBODY
