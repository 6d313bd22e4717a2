"""Lines of a staging unit: taken, held, released; values that are written to memory and come back."""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.designs.interface.own_memory import fetch, spill
from warpreg.designs.interface.plan import READ, WRITE, Plan
from warpreg.designs.interface.plan_functions import count, extra
from warpreg.designs.interface.program import Program
from warpreg.designs.interface.state import sm_of
from warpreg.designs.parts.staging.state import (
    AGE,
    CHANGED,
    CLOCK,
    COMING,
    DIRTY,
    FREE,
    HELD,
    HOME,
    LINE,
    NO_LINE,
    NOWHERE,
    OWNER,
    PACKED,
    PACKED_BYTES,
    PACKED_LINES,
    PACKED_REGISTERS,
    REGULAR,
    SAVED,
    STAGED,
    TAG,
    USED,
    VALID,
    WHERE,
    WRITING,
    bank_of,
    tag_of,
)

EVENTS = (
    "regions", "preloads staged", "preloads decompressed", "preloads from memory", "values saved", "values packed",
    "values dropped", "lines lacking",
)  # fmt: skip
REGIONS, FROM_STAGE, FROM_COMPRESSOR, FROM_MEMORY, SAVES, PACKS, DROPS, LACKS = range(8)
OSU = 1


@noinline
def preload(state: Any, program: Program, warp: int, register: int, plan: Plan) -> int:
    """A region needs the old value of a register: hold its line.  Returns 1 if memory has to send it, else 0."""
    own = state.registers[warp, register]
    if own[WHERE] == NOWHERE:
        return 0
    if own[WHERE] == STAGED:
        own[HELD] = 1
        count(plan, FROM_STAGE)
        return 0
    packed = own[WHERE] == PACKED
    take_line(state, program, warp, register, plan)
    if packed and is_in_compressor(state, program, warp, register):
        own[WHERE] = STAGED
        count(plan, FROM_COMPRESSOR)
        extra(plan, OSU, WRITE, register, warp=warp)
        return 0
    own[WHERE] = COMING
    count(plan, FROM_MEMORY)
    if packed:
        fetch(plan, register, warp=warp, line=packed_line(program, warp, register), offset=_offset(register),
              bytes=PACKED_BYTES)  # fmt: skip
    else:
        fetch(plan, register, warp=warp)
    return 1


@noinline
def has_come(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """Memory has sent a register."""
    own = state.registers[warp, register]
    if own[HOME] == PACKED:
        _keep_packed(state, program, warp, register, 0, plan)
    own[WHERE] = STAGED
    extra(plan, OSU, WRITE, register, warp=warp)


def write_line(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """A region writes a register: hold a line for it, which differs from memory from now on."""
    own = state.registers[warp, register]
    if own[LINE] == NO_LINE:
        take_line(state, program, warp, register, plan)
    own[HELD] = 1
    own[WHERE] = STAGED
    own[DIRTY] = 1


@noinline
def take_line(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """Hold a line of the register's bank: a free one, else the clean one that was released first, else the dirty one.

    In a replay, where nothing waits for lines, there may be none: the register then has its value without one.
    """
    sm = sm_of(program, warp)
    first = bank_of(state, program, warp, register) * state.lines
    chosen, chosen_rank = NO_LINE, 0
    for line in range(first, first + state.lines):
        rank = _rank(state, sm, line)
        if rank >= 0 and (chosen == NO_LINE or rank < chosen_rank):
            chosen, chosen_rank = line, rank
    own = state.registers[warp, register]
    own[HELD] = 1
    own[DIRTY] = 0
    if chosen == NO_LINE:
        count(plan, LACKS)
        return
    owner = state.unit[sm, chosen, OWNER]
    if owner != FREE:
        _give_up(state, program, owner >> 8, owner & 255, plan)
    state.unit[sm, chosen, OWNER] = tag_of(warp, register)
    own[LINE] = chosen


def _rank(state: Any, sm: int, line: int) -> int:
    """The order in which lines are taken; -1 for one that is held."""
    owner = state.unit[sm, line, OWNER]
    if owner == FREE:
        return 0
    other = state.registers[owner >> 8, owner & 255]
    if other[HELD] != 0 or other[WRITING] != 0:
        return -1
    rank: int = 1 + state.unit[sm, line, AGE] + (other[DIRTY] << 40)
    return rank


@noinline
def _give_up(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """Another register takes a line: its value is written to memory, unless memory has it."""
    own = state.registers[warp, register]
    if own[DIRTY] != 0:
        extra(plan, OSU, READ, register, warp=warp)
        if state.compresses and own[REGULAR] != 0:
            count(plan, PACKS)
            own[HOME] = PACKED
            _keep_packed(state, program, warp, register, 1, plan)
        else:
            count(plan, SAVES)
            _forget_packed(state, program, warp, register)
            own[HOME] = SAVED
            spill(plan, register, warp=warp)
    own[WHERE] = own[HOME]
    own[LINE] = NO_LINE
    own[DIRTY] = 0


def release(state: Any, program: Program, warp: int, register: int) -> None:
    """A region needs a line no more; its value may be needed later."""
    own = state.registers[warp, register]
    own[HELD] = 0
    if own[LINE] != NO_LINE:
        sm = sm_of(program, warp)
        state.clock[sm, CLOCK] += 1
        state.unit[sm, own[LINE], AGE] = state.clock[sm, CLOCK]


@noinline
def drop(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """Nothing reads the value of a register any more: it is nowhere, and never written to memory."""
    own = state.registers[warp, register]
    if own[WHERE] != NOWHERE and (own[DIRTY] != 0 or own[HOME] != NOWHERE):
        count(plan, DROPS)
    if own[LINE] != NO_LINE:
        state.unit[sm_of(program, warp), own[LINE], OWNER] = FREE
    _forget_packed(state, program, warp, register)
    own[WHERE] = own[HOME] = NOWHERE
    own[LINE] = NO_LINE
    own[DIRTY] = own[HELD] = 0


def packed_line(program: Program, warp: int, register: int) -> int:
    """The line of its SM that a packed register shares."""
    line: int = warp % program.slots * PACKED_LINES + register // PACKED_REGISTERS
    return line


def _offset(register: int) -> int:
    return register % PACKED_REGISTERS * PACKED_BYTES


def _find(state: Any, program: Program, warp: int, register: int) -> int:
    """The line of the compressor that may have a packed register, NO_LINE without one."""
    sm, line = sm_of(program, warp), packed_line(program, warp, register)
    for place in range(state.compressor.shape[1]):
        if state.compressor[sm, place, TAG] == line:
            return place
    return NO_LINE


def is_in_compressor(state: Any, program: Program, warp: int, register: int) -> bool:
    """Whether the compressor has a packed register, which it then uses."""
    place = _find(state, program, warp, register)
    if place == NO_LINE:
        return False
    sm = sm_of(program, warp)
    state.clock[sm, CLOCK] += 1
    state.compressor[sm, place, USED] = state.clock[sm, CLOCK]
    return bool(state.compressor[sm, place, VALID] >> register % PACKED_REGISTERS & 1)


@noinline
def _keep_packed(state: Any, program: Program, warp: int, register: int, changed: int, plan: Plan) -> None:
    """The compressor has a packed register: memory does not if it is ``changed``."""
    sm, line = sm_of(program, warp), packed_line(program, warp, register)
    place = _find(state, program, warp, register)
    if place == NO_LINE:
        place = 0
        for other in range(state.compressor.shape[1]):
            if state.compressor[sm, other, USED] < state.compressor[sm, place, USED]:
                place = other
        _write_packed(state, program, warp, place, plan)
        state.compressor[sm, place, TAG] = line
        state.compressor[sm, place, VALID] = state.compressor[sm, place, CHANGED] = 0
    one = 1 << register % PACKED_REGISTERS
    state.clock[sm, CLOCK] += 1
    state.compressor[sm, place, USED] = state.clock[sm, CLOCK]
    state.compressor[sm, place, VALID] |= one
    if changed:
        state.compressor[sm, place, CHANGED] |= one


def _write_packed(state: Any, program: Program, warp: int, place: int, plan: Plan) -> None:
    """A line of the compressor is replaced: what memory does not have is written, with what lies between."""
    sm = sm_of(program, warp)
    changed = state.compressor[sm, place, CHANGED]
    if changed == 0:
        return
    first, last = 0, PACKED_REGISTERS - 1
    while changed >> first & 1 == 0:
        first += 1
    while changed >> last & 1 == 0:
        last -= 1
    line = state.compressor[sm, place, TAG]
    register = line % PACKED_LINES * PACKED_REGISTERS + first
    owner = warp // program.slots * program.slots + line // PACKED_LINES
    spill(plan, register, warp=owner, line=line, offset=_offset(register), bytes=(last - first + 1) * PACKED_BYTES)


def _forget_packed(state: Any, program: Program, warp: int, register: int) -> None:
    """A register is packed no more."""
    if state.registers[warp, register, HOME] == PACKED:
        place = _find(state, program, warp, register)
        if place != NO_LINE:
            sm, others = sm_of(program, warp), ~(1 << register % PACKED_REGISTERS)
            state.compressor[sm, place, VALID] &= others
            state.compressor[sm, place, CHANGED] &= others
