"""The entries of a cache that each warp owns: lookup, replacement, eviction, flush; part of several designs.

A state that uses it has these fields.  Kernel-wide: ``entries``, and the switches ``lru``, ``elide_dead``,
``idle_first`` and ``fill_partial``.  Per warp: ``entry`` [warp, register] and ``register`` [warp, entry], inverse maps
with NONE where empty; ``order`` [warp], see `entry_order`; ``lanes`` [warp, entry], the lanes whose value the entry
holds; ``flags`` [warp, entry].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpreg.designs.interface.plan import READ, UNSET, Plan
from warpreg.designs.interface.plan_functions import (
    count,
    extra,
    move,
    read,
    write,
)
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.storage.entry_order import (
    IN_ORDER,
    make_oldest,
    make_oldest_youngest,
    make_youngest,
    next_older,
    oldest,
)

MRF, RFC = 0, 1
NONE = -1
DIRTY, DEAD, IDLE = 1, 2, 4
"""Flags of an entry: the MRF does not hold its value; no read follows; no read follows before the warp may suspend."""
ALL_LANES = 0xFFFFFFFF
MERGED_READS, FILLS, FLUSHED = range(3)
EVENTS = ("merged_reads", "fills", "flushed")
"""Reads that also read the MRF for lanes missing in the entry; fills of the cache from the MRF; write-backs of flushes,
which are also counted as moves."""


def no_entries(program: Program, entries: int) -> dict[str, Any]:
    """The initial rows of a warp's empty cache, by field."""
    rows = max(1, entries)
    return {
        "entry": np.full(program.register_count, NONE, np.int8),
        "register": np.full(rows, NONE, np.int32),
        "order": IN_ORDER,
        "lanes": np.zeros(rows, np.uint32),
        "flags": np.zeros(rows, np.uint8),
    }


def read_operand(state: Any, program: Program, warp: int, operand: int, plan: Plan, bank: int = UNSET) -> None:
    """Read a source operand, from the cache if it hits; ``bank`` is that of the cache, which has none by default."""
    register = program.source[operand]
    entry = state.entry[warp, register]
    if entry == NONE:
        read(plan, operand, MRF)
        return
    read(plan, operand, RFC, bank=bank)
    if plan.mask & ~state.lanes[warp, entry]:
        extra(plan, MRF, READ, register)
        count(plan, MERGED_READS)
    if state.lru:
        renew(state, warp, entry)
    if program.last_read[operand]:
        state.flags[warp, entry] |= DEAD
    if program.source_idle[operand]:
        state.flags[warp, entry] |= IDLE


def entry_for(state: Any, warp: int, register: int, plan: Plan) -> np.int64:
    """Allocate an entry for a register that has none; the victim is written back if its value may be needed."""
    entry = victim(state, warp)
    before = state.register[warp, entry]
    if before != NONE:
        write_back(state, warp, entry, plan)
        state.entry[warp, before] = NONE
    state.register[warp, entry] = register
    state.entry[warp, register] = entry
    state.lanes[warp, entry] = 0
    state.flags[warp, entry] = 0
    if state.idle_first:
        renew(state, warp, entry)
    else:
        state.order[warp] = make_oldest_youngest(state.order[warp], state.entries)
    return entry


def victim(state: Any, warp: int) -> np.int64:
    """The oldest entry; with ``idle_first`` the oldest that is empty, dead or idle, if there is one."""
    order = state.order[warp]
    if state.idle_first:
        for _ in range(state.entries):
            entry = oldest(order)
            if state.register[warp, entry] == NONE or state.flags[warp, entry] & (DEAD | IDLE):
                return entry
            order = next_older(order)
    return oldest(state.order[warp])


def renew(state: Any, warp: int, entry: int | np.int64) -> None:
    """Make the entry the youngest."""
    state.order[warp] = make_youngest(state.order[warp], entry, state.entries)


def write_entry(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan, bank: int = UNSET) -> None:
    """Write a result to the cache: in place if the register is present, else to a new entry; ``bank`` as in
    `read_operand`.
    """
    register = program.result[operand]
    entry = state.entry[warp, register]
    if entry == NONE:
        entry = entry_for(state, warp, register, plan)
        if state.fill_partial and program.result_partial[operand]:
            move(plan, MRF, RFC, register)
            count(plan, FILLS)
            state.lanes[warp, entry] = ALL_LANES
    elif state.lru:
        renew(state, warp, entry)
    write(plan, operand, RFC, bank=bank)
    state.lanes[warp, entry] = lanes_after(state.lanes[warp, entry], program, pc, operand, plan.mask)
    state.flags[warp, entry] = DIRTY | IDLE if program.result_idle[operand] else DIRTY


def lanes_after(held: int, program: Program, pc: int, operand: int, lanes: int | np.uint32) -> int:
    """The lanes of a register that the entry holds after a write of ``lanes``, given those ``held`` before.

    All lanes if none needs its old value.  Lanes enabled by a guard are not recorded, so a guarded write adds none.
    """
    if not program.result_partial[operand]:
        return ALL_LANES
    return held if program.guarded[pc] else held | int(lanes)


def write_around(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Write a result to the MRF; an older entry of the register is freed (evicted if lanes are still needed)."""
    register = program.result[operand]
    entry = state.entry[warp, register]
    if entry != NONE:
        if program.result_partial[operand]:
            evict(state, warp, entry, plan)
        else:
            drop(state, warp, entry)
    write(plan, operand, MRF)


def evict(state: Any, warp: int, entry: int | np.int64, plan: Plan) -> None:
    """Free an entry; its value moves to the MRF if it may be needed."""
    write_back(state, warp, entry, plan)
    drop(state, warp, entry)


def write_back(state: Any, warp: int, entry: int | np.int64, plan: Plan) -> None:
    """The value of an entry moves to the MRF if it may be needed."""
    if must_write_back(state, warp, entry):
        move(plan, RFC, MRF, state.register[warp, entry])


def drop(state: Any, warp: int, entry: int | np.int64) -> None:
    """Free an entry; it is the next to be allocated."""
    state.order[warp] = make_oldest(state.order[warp], entry, state.entries)
    state.entry[warp, state.register[warp, entry]] = NONE
    state.register[warp, entry] = NONE


def must_write_back(state: Any, warp: int, entry: int | np.int64) -> bool:
    """Whether the MRF lacks a value that may still be read."""
    flags = state.flags[warp, entry]
    return flags & DIRTY != 0 and not (state.elide_dead and flags & DEAD != 0)


def flush(state: Any, warp: int, plan: Plan) -> None:
    """Write back and free all entries of the warp."""
    for entry in range(state.entries):
        if state.register[warp, entry] != NONE:
            if must_write_back(state, warp, entry):
                count(plan, FLUSHED)
            evict(state, warp, entry, plan)
