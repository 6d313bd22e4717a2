"""The capacity manager of a staging unit: regions begin when their lines are reserved and their preloads are there.

A warp asks for its next region when the results of the last one are written and it waits for nobody.  The manager then
tries the warps of the sm that wait: first the one that asked last, whose registers are most likely still staged.
Each for which there are lines begins its region: preloads are held or fetched, and it may issue when they are there.
When a region has issued, the lines of results that are under way stay reserved, and the others are given back.

A replay has no cycles: regions begin at their first instruction, and lines that lack are only counted.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.designs.interface import (
    CONSTANT,
    GO,
    HALVES_CONSTANT,
    HALVES_STRIDE_1,
    HALVES_STRIDE_4,
    MRF,
    STRIDE_1,
    STRIDE_4,
    Plan,
    Program,
    count,
    hook,
    is_timed,
    pattern,
    read,
    result_operands,
    shape_of,
    sm_of,
    source_operands,
    wake,
    write,
)
from warpreg.designs.parts.staging.lines import OSU, REGIONS, drop, has_come, preload, release, write_line
from warpreg.designs.parts.staging.regions import GOES_ON, STOPS, WORD
from warpreg.designs.parts.staging.state import (
    ACTIVE,
    BLOCKED,
    CLOCK,
    DRAINING,
    HEAD,
    HELD,
    IDLE,
    LOADING,
    MISSING,
    PENDING,
    PHASE,
    REGULAR,
    STAMP,
    UNREAD,
    WANTING,
    WRITING,
    bank_of,
)


@hook
def admit(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if not state.enabled or state.warps[warp, PHASE] == ACTIVE:
        return GO
    state.warps[warp, BLOCKED] = 0
    _ask(state, program, warp, pc, plan)
    return GO if state.warps[warp, PHASE] == ACTIVE else warp


@hook
def buffered(
    state: Any, program: Program, warp: int, pc: int, ahead: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    if state.enabled and ahead == 0 and state.warps[warp, BLOCKED] == 0:
        _ask(state, program, warp, pc, plan)


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled and not is_timed(plan) and program.hints.first[pc] == pc:
        _begin(state, program, warp, pc, plan)
    for operand in source_operands(program, pc):
        read(plan, operand, OSU if state.enabled else MRF)


@hook
def plan_write(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        if not state.enabled:
            write(plan, operand, MRF)
            continue
        register = program.result[operand]
        write_line(state, program, warp, register, plan)
        state.registers[warp, register, REGULAR] = _is_regular(shape_of(pattern(plan, operand)))
        state.registers[warp, register, UNREAD] = program.hints.unread[operand]
        if is_timed(plan) and program.hints.returns[pc]:
            state.registers[warp, register, WRITING] += 1
            state.warps[warp, PENDING] += 1
        write(plan, operand, OSU)


@hook
def issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if not state.enabled:
        return
    for operand in source_operands(program, pc):
        if program.hints.erased[operand]:
            drop(state, program, warp, program.source[operand], plan)
        elif program.hints.released[operand]:
            release(state, program, warp, program.source[operand])
    if program.hints.ends[pc] != GOES_ON:
        state.warps[warp, BLOCKED] = program.hints.ends[pc] == STOPS
        _end(state, program, warp, plan)


@hook
def written_back(
    state: Any, program: Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    if not state.enabled or not program.hints.returns[pc]:
        return
    for operand in result_operands(program, pc):
        register = program.result[operand]
        state.registers[warp, register, WRITING] -= 1
        state.warps[warp, PENDING] -= 1
        own = state.registers[warp, register]
        if state.warps[warp, PHASE] == DRAINING and own[WRITING] == 0 and own[HELD] != 0:
            _give_back(state, program, warp, register % state.banks, 1)
            _settle(state, program, warp, register, plan)
    if state.warps[warp, PHASE] == DRAINING:
        if state.warps[warp, PENDING] == 0:
            state.warps[warp, PHASE] = IDLE
        _manage(state, program, warp, plan)


@hook
def transferred(state: Any, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
    has_come(state, program, warp, register, plan)
    state.warps[warp, MISSING] -= 1
    if state.warps[warp, PHASE] == LOADING and state.warps[warp, MISSING] == 0:
        _activate(state, warp, plan)


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if not state.enabled:
        return
    for one in range(state.banks):
        _give_back(state, program, warp, one, state.reserved[warp, one])
    for register in range(program.register_count):
        drop(state, program, warp, register, plan)
    _manage(state, program, warp, plan)


def _ask(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """A warp that is between regions asks for the one that begins at an instruction."""
    own = state.warps[warp]
    if own[PHASE] == IDLE:
        sm = sm_of(program, warp)
        state.clock[sm, CLOCK] += 1
        own[PHASE] = WANTING
        own[HEAD] = pc
        own[STAMP] = state.clock[sm, CLOCK]
        _manage(state, program, warp, plan)


@noinline
def _manage(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """Begin regions that wait, of the SM of a warp, until there are too few lines for one."""
    chosen = _next(state, program, warp)
    while chosen >= 0 and _fits(state, program, chosen, state.warps[chosen, HEAD]):
        _begin(state, program, chosen, state.warps[chosen, HEAD], plan)
        chosen = _next(state, program, warp)


def _next(state: Any, program: Program, warp: int) -> int:
    """The waiting warp that is first, of the SM of ``warp``; -1 without one."""
    chosen, best = -1, 0
    first = warp // program.slots * program.slots
    for other in range(first, first + program.slots):
        if state.warps[other, PHASE] == WANTING:
            stamp = state.warps[other, STAMP] if state.youngest_first else -state.warps[other, STAMP]
            if chosen < 0 or stamp > best:
                chosen, best = other, stamp
    return chosen


def _fits(state: Any, program: Program, warp: int, pc: int) -> bool:
    """Whether each bank has the lines that a region needs."""
    sm = sm_of(program, warp)
    for one in range(state.banks):
        bank = bank_of(state, program, warp, one)
        if state.committed[sm, bank] + program.hints.lines[pc, one] > state.lines:
            return False
    return True


@noinline
def _begin(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Reserve the lines of a region, and preload its inputs."""
    sm = sm_of(program, warp)
    count(plan, REGIONS)
    for one in range(state.banks):
        lines = program.hints.lines[pc, one]
        state.committed[sm, bank_of(state, program, warp, one)] += lines
        state.reserved[warp, one] += lines
    state.warps[warp, PHASE] = LOADING
    missing = 0
    for word in range(program.hints.inputs.shape[1]):
        dropped = program.hints.dropped[pc, word]
        inputs = program.hints.inputs[pc, word]
        for bit in range(WORD):
            if dropped >> bit & 1:
                drop(state, program, warp, word * WORD + bit, plan)
            if inputs >> bit & 1:
                missing += preload(state, program, warp, word * WORD + bit, plan)
    state.warps[warp, MISSING] = missing
    if missing == 0:
        _activate(state, warp, plan)


def _activate(state: Any, warp: int, plan: Plan) -> None:
    """The preloads of a region are there."""
    state.warps[warp, PHASE] = ACTIVE
    wake(plan, warp)


@noinline
def _end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """A region has issued: only results that are under way still hold lines."""
    for one in range(state.banks):
        _give_back(state, program, warp, one, state.reserved[warp, one])
    for register in range(program.register_count):
        if state.registers[warp, register, HELD] != 0:
            if state.registers[warp, register, WRITING] == 0:
                _settle(state, program, warp, register, plan)
            else:
                _give_back(state, program, warp, register % state.banks, -1)
    state.warps[warp, PHASE] = IDLE if state.warps[warp, PENDING] == 0 else DRAINING
    if is_timed(plan):
        _manage(state, program, warp, plan)


def _settle(state: Any, program: Program, warp: int, register: int, plan: Plan) -> None:
    """A region that has issued holds a line no more."""
    if state.registers[warp, register, UNREAD] != 0:
        drop(state, program, warp, register, plan)
    else:
        release(state, program, warp, register)


def _give_back(state: Any, program: Program, warp: int, one: int, lines: int) -> None:
    """A warp has fewer lines reserved for a class of registers."""
    state.reserved[warp, one] -= lines
    state.committed[sm_of(program, warp), bank_of(state, program, warp, one)] -= lines


def _is_regular(shape: int) -> bool:
    """Whether the compressor knows a pattern."""
    return shape in (CONSTANT, STRIDE_1, STRIDE_4, HALVES_CONSTANT, HALVES_STRIDE_1, HALVES_STRIDE_4)
