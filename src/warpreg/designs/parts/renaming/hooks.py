"""The hooks of the designs that rename.

At issue the table is looked up for each source, and two sources may be planned as one read.  When the collector has
read a source, a register that is dead may be released.  When a result leaves its unit, its width is known and it gets
its place.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.bits import lowest_bit
from piecewise_numba.records import by_reference
from warpreg.designs.interface import (
    MRF,
    READ,
    UNSET,
    Plan,
    Program,
    count,
    extra,
    hook,
    is_timed,
    level,
    lookup,
    read,
    result_operands,
    sm_of,
    source_operands,
    update,
    width,
    write,
)
from warpreg.designs.parts.affinity.alignment import LEFT
from warpreg.designs.parts.renaming.events import (
    BYTES,
    CARRIED,
    COALESCED,
    GROWN,
    IN_USE,
    MULTIPLE_SOURCES,
    OPERANDS,
    PLACED,
    RELEASED,
    RESIDENT,
    SUPERSEDED,
    UNPLACED,
)
from warpreg.designs.parts.renaming.packed_pairs import count_pair
from warpreg.designs.parts.renaming.policies import beside_buddy, default_fit, hold_for_buddy, to_its_side
from warpreg.designs.parts.renaming.slices import WHOLE, int64, size_of
from warpreg.designs.parts.renaming.state import BESIDE_BUDDY, TO_ITS_SIDE
from warpreg.designs.parts.renaming.survey import survey_sources
from warpreg.designs.parts.renaming.table import (
    UNMAPPED,
    collect_source,
    end_warp,
    issue_source,
    kill,
    mask_of,
    place,
    position_of,
    release,
    shrink,
    stays,
)

RENAMING_TABLE = 0
"""Its position among the tables of a design."""
NO_BUDDY = -1
ALL_LANES = 0xFFFFFFFF
WORD = 32
"""Registers in a word of the hint ``released``."""


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled:
        issue_sources(by_reference(state), program, warp, pc, plan)
    else:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)


@hook
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if state.enabled:
        end_source(by_reference(state), program, warp, operand, plan)


@hook
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    renaming = by_reference(state)
    for operand in result_operands(program, pc):
        if state.enabled:
            rename_result(renaming, program, warp, operand, plan)
        else:
            write(plan, operand, MRF)


@hook
def warp_start(state: Any, program: Program, warp: int, plan: Plan) -> None:
    state.resident[sm_of(program, warp), 0] += program.register_count


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if state.enabled:
        end_warp(by_reference(state), plan.sm, warp)
        level(plan, IN_USE, state.in_use[plan.sm, 0])
    state.resident[plan.sm, 0] -= program.register_count
    report_resident(by_reference(state), plan)


def issue_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """An instruction issues: registers that are dead here are released, and its sources are planned."""
    if is_timed(plan) and state.resident[plan.sm, 0] != state.resident[plan.sm, 1]:
        report_resident(state, plan)
    if state.frees and program.hints.entered[pc]:
        release_dead(state, program, warp, pc, plan)
    if state.surveys:
        survey_sources(state, program, warp, pc, plan)
    plan_sources(state, program, warp, pc, plan)
    if is_timed(plan):
        for operand in source_operands(program, pc):
            issue_source(state, warp, program.source[operand], state.frees and program.last_read[operand] != 0)


def end_source(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> bool:
    """The collector has read a source; returns whether its register was released.  A replay reads sources when they
    issue, so that none is ever pending there.
    """
    register = program.source[operand]
    if is_timed(plan):
        was_released = collect_source(state, plan.sm, warp, register)
    else:
        is_last = state.frees and program.last_read[operand] != 0
        was_released = is_last and kill(state, plan.sm, warp, register, is_timed(plan))
    if was_released:
        count(plan, RELEASED)
        level(plan, IN_USE, state.in_use[plan.sm, 0])
    return was_released


def report_resident(state: Any, plan: Plan) -> None:
    """The registers of the warps that run."""
    state.resident[plan.sm, 1] = state.resident[plan.sm, 0]
    level(plan, RESIDENT, state.resident[plan.sm, 0])


def table_index(state: Any, program: Program, warp: int, register: int, sm: int) -> int:
    """The table's entry of a register: those of a warp are in all its banks, or in that of the warp."""
    slot = warp - sm * program.slots
    if state.warp_banks:
        return int(register * program.slots + state.numbered[slot])
    return slot * program.register_count + register


def release_dead(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The registers that died on the way to the block that begins here."""
    block = program.hints.entered[pc] - 1
    for word in range(program.hints.released.shape[1]):
        bits = program.hints.released[block, word]
        while bits:
            register = word * WORD + lowest_bit(bits)
            bits &= bits - 1
            if kill(state, plan.sm, warp, register, is_timed(plan)):
                count(plan, RELEASED)
    level(plan, IN_USE, state.in_use[plan.sm, 0])


def plan_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Look up each source; a read delivers one or two of them."""
    count(plan, OPERANDS, program.source_start[pc + 1] - program.source_start[pc])
    if program.hints.multiple[pc]:
        count(plan, MULTIPLE_SOURCES)
        if state.coalesces:
            plan_shared(state, program, warp, pc, plan)
            return
    for operand in source_operands(program, pc):
        entry = look_up(state, program, warp, pc, operand, plan)
        read_place(state, operand, entry, UNSET, plan)


def plan_shared(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Each source shares the read of the first one before it that it can share one with."""
    first = program.source_start[pc]
    shared = 0
    for operand in source_operands(program, pc):
        entry = look_up(state, program, warp, pc, operand, plan)
        leader = UNSET
        for other in range(first, operand):
            if leader == UNSET and not shared >> other - first & 1:
                before = int64(state.table[warp, program.source[other]])
                if can_share(state, entry, before):
                    leader = other
                    shared |= 1 << leader - first | 1 << operand - first
        read_place(state, operand, entry, leader, plan)
    count(plan, COALESCED, shared != 0)


def look_up(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> int:
    """The entry of a source; a register that the instruction names again is not looked up again."""
    register = program.source[operand]
    if program.hints.first[operand]:
        lookup(plan, RENAMING_TABLE, table_index(state, program, warp, register, plan.sm))
    entry: int = int64(state.table[warp, register])
    return entry


def can_share(state: Any, entry: int, other: int) -> bool:
    """Whether one read can deliver the values of two entries."""
    if not state.coalesces or entry == UNMAPPED or other == UNMAPPED or mask_of(entry) & mask_of(other):
        return False
    if state.dual:
        return bool(state.bank[position_of(entry)] == state.bank[position_of(other)])
    return position_of(entry) == position_of(other)


def read_place(state: Any, operand: int, entry: int, leader: int, plan: Plan) -> None:
    """Read a source where the table says; one without a value is read like any other register.

    Without coalescing no row is named, so that the banks do not merge reads.
    """
    if entry == UNMAPPED:
        read(plan, operand, MRF)
        return
    position = position_of(entry)
    row = state.row[position] if state.coalesces else UNSET
    read(plan, operand, MRF, bank=state.bank[position], merged=leader, slices=slices_of(state, entry), row=row)


def slices_of(state: Any, entry: int) -> int:
    """The slices that an access of a value takes; without packing the banks need none."""
    return mask_of(entry) if state.packs else UNSET


def rename_result(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Find the place of a result and write it."""
    sm, register = plan.sm, program.result[operand]
    size = width(plan, operand) if state.packs else WHOLE
    if state.surveys:
        count(plan, BYTES + size - 1)
    old = int64(state.table[warp, register])
    partial = leaves_lanes(program, operand, plan)
    count(plan, OPERANDS)
    if stays(state, sm, warp, register, size, is_timed(plan)):
        left = state.policy == TO_ITS_SIDE and program.hints.side[operand] == LEFT
        if state.packs and not (left and partial):
            shrink(state, sm, warp, register, size, left)
        if is_timed(plan):
            state.dying[warp, register] = 0
    else:
        give_place(state, program, warp, operand, size, plan)
        if old != UNMAPPED and partial and state.carries:
            position = position_of(old)
            extra(plan, MRF, READ, register, bank=state.bank[position], slices=slices_of(state, old))
            count(plan, CARRIED)
            count(plan, OPERANDS)
    entry = int64(state.table[warp, register])
    index = table_index(state, program, warp, register, sm)
    if entry != old:
        update(plan, RENAMING_TABLE, index)
    else:
        lookup(plan, RENAMING_TABLE, index)
    if entry == UNMAPPED:
        write(plan, operand, MRF)
        count(plan, UNPLACED)
    else:
        bank, row = state.bank[position_of(entry)], state.row[position_of(entry)]
        write(plan, operand, MRF, bank=bank, slices=slices_of(state, entry), row=row)
    if state.frees and program.hints.dead[operand] and kill(state, sm, warp, register, is_timed(plan)):
        count(plan, RELEASED)
    level(plan, IN_USE, state.in_use[sm, 0])


def leaves_lanes(program: Program, operand: int, plan: Plan) -> bool:
    """Whether a result may leave lanes alone whose old value is needed: under a guard, or if not all lanes are active.
    Lanes that a warp does not have count as inactive.
    """
    if not program.result_partial[operand]:
        return False
    return bool(program.hints.guarded[operand] or plan.mask & ALL_LANES != ALL_LANES)


def give_place(state: Any, program: Program, warp: int, operand: int, size: int, plan: Plan) -> None:
    """A result gets a new place, by the policy.  Where the register file is full, its old place is given up first."""
    sm, register = plan.sm, program.result[operand]
    old = int64(state.table[warp, register])
    entry = chosen(state, program, warp, operand, size, sm)
    if entry == UNMAPPED:
        release(state, sm, warp, register)
        entry = chosen(state, program, warp, operand, size, sm)
    if entry == UNMAPPED:
        return
    if old != UNMAPPED:
        count(plan, GROWN if size > size_of(mask_of(old)) else SUPERSEDED)
    place(state, sm, warp, register, entry, is_timed(plan))
    count(plan, PLACED)
    if state.policy == BESIDE_BUDDY and program.hints.buddy[operand] != NO_BUDDY:
        buddy = program.hints.buddy[operand]
        count_pair(state, warp, register, buddy, plan)
        if state.reserves:
            hold_for_buddy(state, sm, warp, register, buddy)


def chosen(state: Any, program: Program, warp: int, operand: int, size: int, sm: int) -> int:
    """Where the policy puts a result."""
    slot = warp - sm * program.slots
    if state.policy == BESIDE_BUDDY:
        return beside_buddy(state, sm, warp, slot, program.hints.buddy[operand], size)
    if state.policy == TO_ITS_SIDE:
        begin, end = 0, state.free.shape[1]
        if state.warp_banks:
            begin = state.numbered[slot] % state.banks * state.rows
            end = begin + state.rows
        return to_its_side(state, sm, program.hints.side[operand], size, begin, end)
    return default_fit(state, sm, slot, size)
