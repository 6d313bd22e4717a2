"""The hooks of the renaming designs with two technologies.

At issue, sources are looked up in the renaming table, and each destination gets a vector.  A vector is released when
its last source has been read.  The ends of memory accesses predict how long a warp will stall.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.bits import lowest_bit
from piecewise_numba.records import by_reference
from warpreg.designs.interface import (
    GO,
    MRF,
    READ,
    Plan,
    Program,
    after,
    count,
    extra,
    hook,
    index_in_block,
    level,
    lookup,
    now,
    read,
    result_operands,
    source_operands,
    update,
    write,
)
from warpreg.designs.parts.hints.program_table import UNITS
from warpreg.designs.parts.hybrid.columns import (
    COUNTER,
    FIRST,
    FLAGS,
    LANES,
    MAX_RESIDENT,
    NONE,
    NUMBER,
    OLD,
    PENDING,
    POWERED,
    REFILLED,
    REPORTED,
    USED,
    VECTOR,
)
from warpreg.designs.parts.hybrid.events import (
    CARRIED,
    CHOSEN,
    LOADS_FORCED,
    OTHERS_FORCED,
    POWERED_CMOS,
    POWERED_TFET,
    PREDICTED,
    PREDICTED_CYCLES,
    REFUSED,
    RELEASED,
    RENAMED,
    STAYED,
    UNPLACED,
)
from warpreg.designs.parts.hybrid.prediction import absorb, affords, begin_access, end_access
from warpreg.designs.parts.hybrid.table import (
    CARRIES,
    DYING,
    begin_use,
    end_use,
    end_warp,
    kill,
    must_stay,
    rename,
    vector_of,
)
from warpreg.designs.parts.hybrid.vectors import (
    CMOS,
    TFET,
    UNLIMITED,
    bank_of,
    enter,
    in_use,
    kind_of,
    leave,
    reserve,
)
from warpreg.designs.parts.renaming.hints import WORD
from warpreg.ir.opcodes import Unit

RENAMING_TABLE, FREE_LISTS = range(2)
"""Their positions among the tables of a design."""
MEMORY, TEXTURE, CONTROL = (UNITS.index(unit) for unit in (Unit.MEM, Unit.TEX, Unit.CTRL))


@hook
def block_start(state: Any, program: Program, sm: int, plan: Plan) -> None:
    warps = warps_of_blocks(program, sm)
    reserve(by_reference(state), sm, program.slots, warps * max(program.register_count, 1), warps)


@hook
def warp_start(state: Any, program: Program, warp: int, plan: Plan) -> None:
    enter(by_reference(state), plan.sm, program.register_count)
    if state.enabled and state.own[plan.sm, MAX_RESIDENT] != state.own[plan.sm, REPORTED]:
        state.own[plan.sm, REPORTED] = state.own[plan.sm, MAX_RESIDENT]
        report_powered(by_reference(state), plan)


@hook
def admit(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> int:
    early = state.warps[warp, REFILLED] - now(plan)
    if early > 0:
        return after(plan, early)
    return GO


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled:
        read_sources(by_reference(state), program, warp, pc, plan)
    else:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)


@hook
def plan_write(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    hybrid = by_reference(state)
    for operand in result_operands(program, pc):
        if state.enabled:
            rename_result(hybrid, program, warp, pc, operand, plan)
        else:
            write(plan, operand, MRF)


@hook
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if state.enabled:
        released = end_use(by_reference(state), plan.sm, warp, program.source[operand])
        count_released(by_reference(state), released, plan)


@hook
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled:
        end_results(by_reference(state), program, warp, pc, plan)


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if state.enabled:
        end_warp(by_reference(state), plan.sm, warp)
    leave(by_reference(state), plan.sm, program.register_count)


@hook
def memory_issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.predicts and has_result(program, pc):
        begin_access(by_reference(state), warp, now(plan))


@hook
def memory_returned(state: Any, program: Program, warp: int, pc: int, cycles: int, plan: Plan) -> None:
    if state.predicts and has_result(program, pc) and end_access(by_reference(state), plan.sm, warp, cycles, now(plan)):
        count(plan, PREDICTED)
        count(plan, PREDICTED_CYCLES, state.warps[warp, COUNTER])


def warps_of_blocks(program: Program, sm: int) -> int:
    """The warps of a thread block; all those of a launch have as many."""
    last = 0
    for warp in range(sm * program.slots, (sm + 1) * program.slots):
        last = max(last, index_in_block(program, warp))
    return last + 1


def has_result(program: Program, pc: int) -> bool:
    """Whether a memory instruction makes its warp wait: a load, or an atomic with a result."""
    return bool(program.result_start[pc] != program.result_start[pc + 1])


def read_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """An instruction issues: registers that are dead here are released, and its sources are read."""
    own = state.warps[warp]
    own[LANES] |= plan.mask
    if state.delays_all or program.unit[pc] == CONTROL:
        own[REFILLED] = now(plan) + state.refill + state.stage
    if state.frees and program.hints.entered[pc]:
        release_dead(state, program, warp, pc, plan)
    for operand in source_operands(program, pc):
        register = program.source[operand]
        if program.hints.first[operand]:
            lookup(plan, RENAMING_TABLE, table_index(program, warp, register, plan.sm))
        row = state.registers[warp, register]
        row[PENDING] += 1
        if state.frees and program.last_read[operand]:
            row[FLAGS] |= DYING
        vector = row[VECTOR]
        if vector == NONE:
            read(plan, operand, MRF)
        elif kind_of(state, vector) == TFET:
            read(plan, operand, TFET, bank=bank_of(state, vector), cycles=state.cycles)
        else:
            read(plan, operand, MRF, bank=bank_of(state, vector))


def rename_result(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A destination gets a vector, or stays where it is, and is written there."""
    sm, register = plan.sm, program.result[operand]
    partial = program.result_partial[operand] != 0 and leaves_lanes(state, program, warp, pc, plan)
    if must_stay(state, sm, warp, register, partial):
        state.registers[warp, register, FLAGS] = 0
        count(plan, STAYED)
    else:
        give_vector(state, program, warp, pc, register, partial, plan)
    if state.frees and program.hints.dead[operand]:
        state.registers[warp, register, FLAGS] |= DYING
    begin_use(state, warp, register)
    vector = vector_of(state, warp, register)
    if vector == NONE:
        write(plan, operand, MRF)
    elif kind_of(state, vector) == TFET:
        write(plan, operand, TFET, bank=bank_of(state, vector), cycles=state.cycles)
    else:
        write(plan, operand, MRF, bank=bank_of(state, vector))


def leaves_lanes(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> bool:
    """Whether an instruction may leave a lane of its warp alone: it has a guard, or not all lanes are active."""
    return bool(program.guarded[pc] or plan.mask != state.warps[warp, LANES])


def give_vector(state: Any, program: Program, warp: int, pc: int, register: int, partial: bool, plan: Plan) -> None:
    """Rename a destination; results of loads never go to TFET vectors by choice (section 3.2)."""
    sm = plan.sm
    is_load = program.unit[pc] == MEMORY or program.unit[pc] == TEXTURE
    wanted = TFET if state.predicts and not is_load and affords(state, warp) else CMOS
    lookup(plan, FREE_LISTS, state.own[sm, FIRST + wanted])
    update(plan, RENAMING_TABLE, table_index(program, warp, register, sm))
    count_released(state, rename(state, sm, warp, register, wanted, partial), plan)
    vector = vector_of(state, warp, register)
    if vector == NONE:
        count(plan, UNPLACED)
        return
    count(plan, RENAMED)
    if kind_of(state, vector) == TFET:
        absorb(state, warp)
        if wanted == TFET:
            count(plan, CHOSEN)
        else:
            count(plan, LOADS_FORCED if is_load else OTHERS_FORCED)
    elif wanted == TFET:
        count(plan, REFUSED)
    if state.gating == UNLIMITED and in_use(state, sm) > state.own[sm, USED]:
        state.own[sm, USED] = in_use(state, sm)
        report_powered(state, plan)


def end_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The results of an instruction are there: lanes that it left alone are carried over from the old vector."""
    for operand in result_operands(program, pc):
        register = program.result[operand]
        if state.registers[warp, register, FLAGS] & CARRIES:
            old = state.registers[warp, register, OLD]
            state.registers[warp, register, FLAGS] &= DYING
            count(plan, CARRIED)
            extra(plan, kind_of(state, old), READ, register, bank=bank_of(state, old))
        count_released(state, end_use(state, plan.sm, warp, register), plan)


def release_dead(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The registers that died on the way to the block that begins here."""
    block = program.hints.entered[pc] - 1
    for word in range(program.hints.released.shape[1]):
        bits = program.hints.released[block, word]
        while bits:
            register = word * WORD + lowest_bit(bits)
            bits &= bits - 1
            count_released(state, kill(state, plan.sm, warp, register), plan)


def count_released(state: Any, number: int, plan: Plan) -> None:
    """So many vectors have joined the lists of free ones, at the end of that of CMOS vectors as a rule."""
    for one in range(number):
        count(plan, RELEASED)
        update(plan, FREE_LISTS, state.own[plan.sm, FIRST + CMOS] + state.own[plan.sm, NUMBER + CMOS] + one)


def report_powered(state: Any, plan: Plan) -> None:
    """The registers that are on.  Without limits, as many are CMOS as were in use at a time, the others TFET."""
    if state.gating == UNLIMITED:
        level(plan, POWERED_CMOS, state.own[plan.sm, USED])
        level(plan, POWERED_TFET, state.vectors - state.own[plan.sm, USED])
    else:
        level(plan, POWERED_CMOS, state.own[plan.sm, POWERED])
        level(plan, POWERED_TFET, state.tfet)


def table_index(program: Program, warp: int, register: int, sm: int) -> int:
    """The table's entry of a register."""
    return (warp - sm * program.slots) * program.register_count + register
