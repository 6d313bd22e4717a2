"""Sources are looked up, dead registers released, results placed (thesis §5.5.1)."""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import MRF, UNSET, Plan, Program, count, level, lookup, nowhere, read, update, write
from warpreg.designs.load_sharing.address_table import LANES, NONE, remove, remove_all, remove_overlapping
from warpreg.designs.load_sharing.events import (
    FORGOTTEN,
    IN_USE,
    MOST_IN_USE,
    NOT_FOLLOWED,
    OVERWRITTEN,
    RELEASED,
    SHARING,
    UNPLACED,
)
from warpreg.designs.load_sharing.hints import EVERYTHING
from warpreg.designs.load_sharing.loads import RENAMING_TABLE, arrive, carry, table_index
from warpreg.designs.load_sharing.registers import (
    MAPPED,
    MOST,
    TAKEN,
    assign,
    drop,
    is_alone,
    release,
    take,
    unassign,
)
from warpreg.designs.load_sharing.shadow import store_word
from warpreg.designs.load_sharing.state import ORDINARY, OWNED, SHARED
from warpreg.designs.renaming.free_map import lowest_bit
from warpreg.jit.noinline import noinline

WORD = 32
"""Registers of a word of the hint ``released``."""


def plan_source(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Read a source where the table says; one without a value is read like any other register."""
    register = program.source[operand]
    if program.hints.first[operand]:
        lookup(plan, RENAMING_TABLE, table_index(program, warp, register, plan.sm))
    physical = state.table[warp, register]
    read(plan, operand, MRF, bank=physical % state.banks if physical != NONE else UNSET)


@noinline
def release_dead(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The registers that died on the way to the block that begins here."""
    block = program.hints.entered[pc] - 1
    for word in range(program.hints.released.shape[1]):
        bits = program.hints.released[block, word]
        while bits:
            register = word * WORD + lowest_bit(bits)
            bits &= bits - 1
            if release(state, plan.sm, warp, register):
                count(plan, RELEASED)
    report(state, plan)


def write_result(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A result leaves its unit, or the data of a load are there."""
    sm, register = plan.sm, program.result[operand]
    arrives = state.arrives[warp, register]
    state.arrives[warp, register] = ORDINARY
    if arrives == SHARED:
        nowhere(plan, operand)
    elif arrives >= OWNED:
        physical = arrives - OWNED
        write(plan, operand, MRF, bank=physical % state.banks)
        arrive(state, physical, plan)
        drop(state, sm, physical)
    else:
        place_result(state, program, warp, operand, plan)
    if program.hints.dead[operand] and release(state, sm, warp, register):
        count(plan, RELEASED)
    report(state, plan)


@noinline
def place_result(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A result gets a physical register of its own: the old one if nothing else needs that, else a free one."""
    sm, register = plan.sm, program.result[operand]
    old = state.table[warp, register]
    alone = old != NONE and is_alone(state, sm, old)
    physical = old if alone and state.pending[warp, register] == 0 else take(state, sm)
    if physical == NONE and alone:
        physical = old
    if physical == old and old != NONE:
        remove(state, sm, old)
        state.dying[warp, register] = 0
    elif physical != NONE:
        if program.result_partial[operand]:
            carry(state, warp, register, plan)
        assign(state, sm, warp, register, physical)
    else:
        unassign(state, sm, warp, register)
        count(plan, UNPLACED)
    index = table_index(program, warp, register, sm)
    if physical != old:
        update(plan, RENAMING_TABLE, index)
    else:
        lookup(plan, RENAMING_TABLE, index)
    write(plan, operand, MRF, bank=physical % state.banks if physical != NONE else UNSET)


@noinline
def overwrite(state: Any, program: Program, pc: int, mask: int, plan: Plan) -> None:
    """A store or an atomic is sent, whose addresses are in ``addresses``: entries that it overlaps go (§5.4)."""
    size, sm = int(program.hints.stored[pc]), plan.sm
    if size == EVERYTHING:
        count(plan, OVERWRITTEN, remove_all(state, sm))
    else:
        count(plan, OVERWRITTEN, remove_overlapping(state, sm, mask, size))
        if state.versioned:
            for lane in range(LANES):
                if mask >> lane & 1 and not store_word(state, sm, state.addresses[sm, lane], size, plan.cycle):
                    count(plan, NOT_FOLLOWED)


@noinline
def forget(state: Any, plan: Plan) -> None:
    """Stores of other SMs may be ordered before what follows: what was loaded before is not shared any more."""
    count(plan, FORGOTTEN, remove_all(state, plan.sm))


def report(state: Any, plan: Plan) -> None:
    """The quantities over time, where they have changed."""
    use, reported, sm = state.use, state.reported, plan.sm
    if use[sm, TAKEN] != reported[sm, TAKEN]:
        reported[sm, TAKEN] = use[sm, TAKEN]
        level(plan, IN_USE, use[sm, TAKEN])
    if use[sm, MAPPED] != reported[sm, MAPPED]:
        reported[sm, MAPPED] = use[sm, MAPPED]
        level(plan, SHARING, use[sm, MAPPED])
    if use[sm, MOST] != reported[sm, MOST]:
        count(plan, MOST_IN_USE, use[sm, MOST] - reported[sm, MOST])
        reported[sm, MOST] = use[sm, MOST]
