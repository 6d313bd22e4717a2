"""Sources are looked up, dead registers released, results placed (thesis §5.5.1).

What happens to every instruction is compiled where it is called, and must not hand its state on; what is rare is out of
line.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.bits import lowest_bit
from piecewise_numba.noinline import noinline
from piecewise_numba.records import by_reference
from warpreg.designs.interface import MRF, UNSET, Plan, Program, count, level, lookup, nowhere, read, update, write
from warpreg.designs.parts.load_sharing.address_table import remove_all, remove_overlapping
from warpreg.designs.parts.load_sharing.columns import (
    ARRIVES,
    MAPPED,
    MOST,
    NONE,
    PLACE,
    SAID_MAPPED,
    SAID_MOST,
    SAID_TAKEN,
    TAKEN,
    WAITERS,
)
from warpreg.designs.parts.load_sharing.events import (
    IN_USE,
    MAX_IN_USE,
    NOT_FOLLOWED,
    OVERWRITTEN,
    RELEASED,
    SHARING,
    UNPLACED,
)
from warpreg.designs.parts.load_sharing.hints import EVERYTHING
from warpreg.designs.parts.load_sharing.merging import FULL
from warpreg.designs.parts.load_sharing.registers import bank_of, is_alone, release, replace
from warpreg.designs.parts.load_sharing.shadow import store_words
from warpreg.designs.parts.load_sharing.shared_loads import RENAMING_TABLE, arrive, carry, end_load, table_index
from warpreg.designs.parts.load_sharing.state import ORDINARY, OWNED, SHARED

WORD = 32
"""Registers of a word of the hint ``released``."""


def plan_source(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Read a source where the table says; one without a value is read like any other register."""
    register = program.source[operand]
    if program.hints.first[operand]:
        lookup(plan, RENAMING_TABLE, table_index(program, warp, register, plan.sm))
    physical = state.registers[warp, register, PLACE]
    read(plan, operand, MRF, bank=bank_of(state, physical) if physical != NONE else UNSET)


@noinline
def release_dead(state: Any, sm: int, warp: int, released: Any) -> int:
    """Registers died on the way to a block, as bits of words; returns how many gave their values up now."""
    count = 0
    for word in range(released.size):
        bits = released[word]
        while bits:
            register = word * WORD + lowest_bit(bits)
            bits &= bits - 1
            count += release(state, sm, warp, register)
    return count


def write_result(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result of a hook's own copy of the state leaves its unit, or the data of a load are there."""
    sm, register = plan.sm, program.result[operand]
    if state.registers[warp, register, ARRIVES] != ORDINARY:
        write_loaded(state, warp, register, operand, plan)
    else:
        place_result(state, program, warp, pc, operand, plan)
    if program.hints.dead[operand] and release(by_reference(state), sm, warp, register):
        count(plan, RELEASED)


def place_result(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result gets a physical register of its own: the old one if nothing else needs that, else a free one."""
    register, index = program.result[operand], table_index(program, warp, program.result[operand], plan.sm)
    old = state.registers[warp, register, PLACE]
    if is_alone(state, plan.sm, warp, register):
        lookup(plan, RENAMING_TABLE, index)
        write(plan, operand, MRF, bank=bank_of(state, old))
        return
    physical = replace(by_reference(state), plan.sm, warp, register)
    if physical == old:
        lookup(plan, RENAMING_TABLE, index)
    else:
        update(plan, RENAMING_TABLE, index)
        if old != NONE and leaves_lanes(program, pc, operand, plan):
            carry(state, old, plan)
    if physical == NONE:
        count(plan, UNPLACED)
    write(plan, operand, MRF, bank=bank_of(state, physical) if physical != NONE else UNSET)


def leaves_lanes(program: Program, pc: int, operand: int, plan: Plan) -> bool:
    """Whether lanes whose old value is needed may be left alone: under a guard, or if not all lanes are active."""
    return bool(program.result_partial[operand] and (program.guarded[pc] or plan.mask & FULL != FULL))


def write_loaded(state: Any, warp: int, register: int, operand: int, plan: Plan) -> None:
    """The result of a load for which `look_up_load` has found a physical register."""
    arrives = state.registers[warp, register, ARRIVES]
    state.registers[warp, register, ARRIVES] = ORDINARY
    if arrives == SHARED:
        nowhere(plan, operand)
    else:
        physical = arrives - OWNED
        write(plan, operand, MRF, bank=bank_of(state, physical))
        if state.physical[plan.sm, physical, WAITERS] != NONE:
            arrive(by_reference(state), physical, plan)
        end_load(by_reference(state), plan.sm, physical)


def overwrite(state: Any, size: int, mask: int, plan: Plan) -> None:
    """Lanes of ``addresses`` are stored, of so many bytes each: entries that they overlap go (§5.4)."""
    sm = plan.sm
    if size == EVERYTHING:
        count(plan, OVERWRITTEN, remove_all(state, sm))
        return
    count(plan, OVERWRITTEN, remove_overlapping(state, sm, mask, size))
    if state.versioned:
        count(plan, NOT_FOLLOWED, store_words(state, sm, state.addresses[sm], mask, size, plan.cycle))


def report(state: Any, plan: Plan) -> None:
    """The quantities over time, where they have changed."""
    own = state.own[plan.sm]
    if own[TAKEN] != own[SAID_TAKEN]:
        own[SAID_TAKEN] = own[TAKEN]
        level(plan, IN_USE, own[TAKEN])
    if own[MAPPED] != own[SAID_MAPPED]:
        own[SAID_MAPPED] = own[MAPPED]
        level(plan, SHARING, own[MAPPED])
    if own[MOST] != own[SAID_MOST]:
        count(plan, MAX_IN_USE, own[MOST] - own[SAID_MOST])
        own[SAID_MOST] = own[MOST]
