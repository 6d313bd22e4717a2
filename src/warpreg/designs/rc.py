"""Register cache that the warps of a scheduler share (Bailey et al., CASES 2018, section III-A).

Each scheduler has ``lines`` lines of one warp-register, two to a set, replaced by LRU and shared by all of its warps.
Every result enters, that of a long-latency instruction when it arrives; a source that is present is read from the RC,
any other from the MRF, and a miss does not fill.  A value that is read for the last time leaves the cache with that
read.  What is evicted moves to the MRF.  With ``private`` every active warp has an equal part of the lines to itself
instead (Figure 4).

Where the paper is silent:
- results of other instructions are there after a few cycles, and enter in the order of issue;
- the set is that of the register's number plus the warp's number in its scheduler, modulo the sets;
- lines of a warp that leaves the active set stay until others need them, as LRU does it; private parts are flushed,
  for the next active warp gets them, and a warp that is not active has none, so that what arrives for it goes to the
  MRF;
- a result under a guard or in divergent code holds only some lanes; if an instruction reads others, they come from the
  MRF beside the read of the RC (``partial``);
- what a warp leaves behind when it ends is dropped: nothing can read it;
- with ``allocate_sources``, sources that missed enter clean, in operand order, after all sources of the instruction are
  read, but for values that have just died;
- ``brief_first`` applies to the cache what the paper tries on the scratchpad (section III-A2): a value that only the
  next instruction reads enters as the least recently used of its set.
"""

from dataclasses import dataclass
from itertools import pairwise
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
from warpreg.designs.warp_cache import ALL_LANES, MERGED_READS, NOBODY, lanes_after
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
OWNER_SHIFT = 32
"""Bits of a register's number in the word of a line's owner."""


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
    miss_cycles: int = parameter(
        1, unit="cycles", low=0, high=8, source="rc-rsp §IV-D: what a source that misses waits for, besides the MRF"
    )
    brief_first: bool = parameter(
        False, source="assumed: rc-rsp §III-A2 lowers the priority of back-to-back write and read, in the scratchpad"
    )
    partial: str = parameter(
        "merge", choices=("merge", "ignore"), source="assumed: lanes that a line lacks are read from the MRF with it"
    )


class State(NamedTuple):
    """Kernel-wide: ``sets`` of the whole or of a part, ``miss_cycles`` of a source that is not there, and switches
    (``backs_scratchpad`` is for the hybrid design); ``brief`` [result] as in `brief_flags`; ``dies`` [source] where the
    operand is the last of its instruction to read a value that nothing else reads; ``place`` [register] is the
    register's number modulo the sets.

    Per scheduler: ``owner`` [line], the warp and the register in it, NOBODY where empty; ``lanes`` [line], those whose
    value it holds; ``dirty`` [line] where the MRF lacks that; ``older`` [set], the way that was used longest ago;
    ``taken`` [part].  Per warp: ``line`` [register], the inverse of ``owner``; its ``scheduler``; its ``part``, NOBODY
    without one; ``shift`` of its sets; ``coming`` [register], the lanes of a result that is under way.
    """

    sets: int
    miss_cycles: int
    private: bool
    allocate_sources: bool
    brief_first: bool
    backs_scratchpad: bool
    brief: NDArray[np.uint8]
    dies: NDArray[np.uint8]
    place: NDArray[np.int32]
    owner: NDArray[np.int64]
    lanes: NDArray[np.uint32]
    dirty: NDArray[np.uint8]
    older: NDArray[np.uint8]
    taken: NDArray[np.uint8]
    line: NDArray[np.int16]
    scheduler: NDArray[np.int32]
    part: NDArray[np.int16]
    shift: NDArray[np.int32]
    coming: NDArray[np.uint32]


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
        miss_cycles=parameters.miss_cycles if sets else 0,
        private=parameters.private,
        allocate_sources=parameters.allocate_sources,
        brief_first=parameters.brief_first,
        backs_scratchpad=False,
        brief=brief_flags(program),
        dies=dying_operands(program),
        place=np.arange(program.register_count, dtype=np.int32) % max(1, sets),
        owner=per_scheduler(np.full(rows * WAYS, NOBODY, np.int64)),
        lanes=per_scheduler(np.zeros(rows * WAYS, np.uint32)),
        dirty=per_scheduler(np.zeros(rows * WAYS, np.uint8)),
        older=per_scheduler(np.zeros(rows, np.uint8)),
        taken=per_scheduler(np.zeros(parts, np.uint8)),
        line=per_warp(np.full(program.register_count, NOBODY, np.int16)),
        scheduler=per_warp(np.int32(0)),
        part=per_warp(np.int16(NOBODY)),
        shift=per_warp(np.int32(0)),
        coming=per_warp(np.zeros(program.register_count, np.uint32)),
    )


def dying_operands(program: Program) -> NDArray[np.uint8]:
    """Per source operand, whether its value is gone once it is read: a last read, and no later operand of the same
    instruction reads the register."""
    flags = program.last_read.copy()
    for first, end in pairwise(program.source_start.tolist()):
        registers = program.source[first:end].tolist()
        for place, register in enumerate(registers):
            if register in registers[place + 1 :]:
                flags[first + place] = 0
    return flags


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; a line lies in eight banks of 128 bits beside the lanes, as far from them as an RFC."""
    if parameters.lines == 0:
        return Structure("MRF"), Structure("RC", entries=0)
    bank = ArraySpec("sram", words=parameters.lines, word_bits=128, read_ports=6, write_ports=2, banks=8)
    return Structure("MRF"), Structure("RC", array=bank, private_mm=0.2, shared_mm=0.4)


@hook
def warp_start(state: State, program: Program, warp: int) -> None:
    state.scheduler[warp] = scheduler_of(program, warp)
    if not state.private and state.sets > 0:
        state.shift[warp] = warp % program.slots // program.schedulers % state.sets


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.private and state.sets > 0:
        scheduler = state.scheduler[warp]
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
            if needs_write_back(state, state.scheduler[warp], line):
                count(plan, FLUSHED)
            evict(state, state.scheduler[warp], line, plan)
        release(state, warp)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    scheduler = state.scheduler[warp]
    for line in range(state.owner.shape[1]):
        if state.owner[scheduler, line] >> OWNER_SHIFT == warp:
            state.owner[scheduler, line] = NOBODY
    release(state, warp)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read_operand(state, program, warp, operand, plan)
    if state.allocate_sources:
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            if not program.last_read[operand] and state.line[warp, program.source[operand]] == NOBODY:
                fill(state, warp, program.source[operand], plan)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if state.sets > 0:
            take_result(state, program, warp, pc, operand, plan)
        else:
            write(plan, operand, MRF)


@hook
def arrived(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.sets > 0:
        for operand in range(program.result_start[pc], program.result_start[pc + 1]):
            land(state, program, warp, pc, operand, plan)


def has_lines(state: State, warp: int) -> bool:
    """Whether there are lines that the warp may use."""
    return state.sets > 0 and (not state.private or state.part[warp] != NOBODY)


def read_operand(state: State, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A source operand, from its line if it has one; its last reader takes it out of the cache."""
    register = program.source[operand]
    line = state.line[warp, register]
    if line == NOBODY:
        read(plan, operand, MRF, cycles=1 + state.miss_cycles)
        return
    scheduler = state.scheduler[warp]
    read(plan, operand, RC)
    if plan.mask & ~state.lanes[scheduler, line]:
        extra(plan, MRF, READ, register)
        count(plan, MERGED_READS)
    use(state, scheduler, line)
    if state.dies[operand]:
        drop(state, scheduler, line)


def take_result(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result of an instruction that issues: it enters, or will when it arrives; without lines it goes to the MRF."""
    if program.long_latency[pc]:
        state.coming[warp, program.result[operand]] = plan.mask
    elif has_lines(state, warp):
        write(plan, operand, RC)
        write_line(state, program, warp, pc, operand, plan.mask, plan)
    else:
        write(plan, operand, MRF)
        count(plan, WITHOUT_PART)


def land(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result arrives; without lines it goes to the MRF."""
    register = program.result[operand]
    if has_lines(state, warp):
        extra(plan, RC, WRITE, register)
        write_line(state, program, warp, pc, operand, state.coming[warp, register], plan)
    else:
        extra(plan, MRF, WRITE, register)
        count(plan, WITHOUT_PART)


def write_line(
    state: State, program: Program, warp: int, pc: int, operand: int, lanes: int | np.uint32, plan: Plan
) -> None:
    """Some lanes of a result into its line, or into one of its own."""
    register, scheduler = program.result[operand], state.scheduler[warp]
    line = state.line[warp, register]
    if line == NOBODY:
        line = line_for(state, warp, register, plan)
    state.lanes[scheduler, line] = lanes_after(state.lanes[scheduler, line], program, pc, operand, lanes)
    state.dirty[scheduler, line] = 1
    use(state, scheduler, line)
    if state.brief_first and state.brief[operand]:
        state.older[scheduler, line // WAYS] = line % WAYS


def fill(state: State, warp: int, register: int, plan: Plan) -> None:
    """A source that was read from the MRF enters clean."""
    if has_lines(state, warp):
        line, scheduler = line_for(state, warp, register, plan), state.scheduler[warp]
        state.lanes[scheduler, line] = ALL_LANES
        use(state, scheduler, line)
        extra(plan, RC, WRITE, register)
        count(plan, FILLS)


def line_for(state: State, warp: int, register: int, plan: Plan) -> np.int64:
    """A line for a register that has none: an empty one of its set, else the one that was used longest ago."""
    scheduler = state.scheduler[warp]
    place = np.int64(state.place[register]) + state.shift[warp]
    if place >= state.sets:
        place -= state.sets
    if state.private:
        place += state.part[warp] * state.sets
    line = np.int64(place * WAYS + state.older[scheduler, place])
    if state.owner[scheduler, line] != NOBODY:
        if state.owner[scheduler, line ^ 1] == NOBODY:
            line ^= 1
        else:
            evict(state, scheduler, line, plan)
    state.owner[scheduler, line] = np.int64(warp) << OWNER_SHIFT | register
    state.line[warp, register] = line
    state.lanes[scheduler, line] = 0
    state.dirty[scheduler, line] = 0
    return line


def use(state: State, scheduler: int | np.int32, line: int | np.int64) -> None:
    """The line was used last of its set."""
    state.older[scheduler, line >> 1] = ~line & 1


def evict(state: State, scheduler: int | np.int32, line: int | np.int64, plan: Plan) -> None:
    """Empty a line; what the MRF lacks moves there."""
    if needs_write_back(state, scheduler, line):
        move(plan, RC, MRF, *owner_of(state, scheduler, line))
    if state.owner[scheduler, line] != NOBODY:
        drop(state, scheduler, line)


def drop(state: State, scheduler: int | np.int32, line: int | np.int64) -> None:
    """Empty a line that is not."""
    register, warp = owner_of(state, scheduler, line)
    state.line[warp, register] = NOBODY
    state.owner[scheduler, line] = NOBODY


def owner_of(state: State, scheduler: int | np.int32, line: int | np.int64) -> tuple[int, int]:
    """The register in a line, and its warp."""
    owner = state.owner[scheduler, line]
    return owner & (1 << OWNER_SHIFT) - 1, owner >> OWNER_SHIFT


def needs_write_back(state: State, scheduler: int | np.int32, line: int | np.int64) -> bool:
    """Whether a line holds what the MRF lacks."""
    return bool(state.owner[scheduler, line] != NOBODY and state.dirty[scheduler, line])


def release(state: State, warp: int) -> None:
    """The warp gives up its part."""
    if state.part[warp] != NOBODY:
        state.taken[state.scheduler[warp], state.part[warp]] = 0
        state.part[warp] = NOBODY
