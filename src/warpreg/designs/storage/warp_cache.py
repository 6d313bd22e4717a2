"""The entries of a cache that each warp owns: lookup, replacement, eviction, flush; part of several designs.

A state that uses it has these fields.  Kernel-wide: ``entries``, and the switches ``lru``, ``elide_dead``,
``idle_first`` and ``fill_partial``.  Per warp: ``entry`` [warp, register] and ``register`` [warp, entry], inverse maps
with NOBODY where empty; ``order`` [warp], see `entry_order`; ``lanes`` [warp, entry], the lanes
whose value the entry holds; ``flags`` [warp, entry].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpreg.designs.interface.plan import READ, Plan, count, extra, move, read, write
from warpreg.designs.interface.program import Program
from warpreg.designs.storage.entry_order import IN_ORDER, make_oldest, make_youngest, next_older, oldest

MRF, RFC = 0, 1
NOBODY = -1
DIRTY, DEAD, IDLE = 1, 2, 4
"""Flags of an entry: the MRF has not its value; nobody reads it again; nobody does before the warp may next suspend."""
ALL_LANES = 0xFFFFFFFF
MERGED_READS, FILLS, FLUSHED = range(3)
EVENTS = ("merged_reads", "fills", "flushed")
"""Reads for which the MRF gave lanes that the entry lacked; values brought from the MRF into the cache; write-backs of
flushes, which are among the moves."""


def no_entries(program: Program, entries: int) -> dict[str, Any]:
    """The rows of a warp's empty cache, by field."""
    rows = max(1, entries)
    return {
        "entry": np.full(program.register_count, NOBODY, np.int8),
        "register": np.full(rows, NOBODY, np.int32),
        "order": IN_ORDER,
        "lanes": np.zeros(rows, np.uint32),
        "flags": np.zeros(rows, np.uint8),
    }


def read_operand(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A source operand, from the cache where it is present."""
    register = program.source[operand]
    entry = state.entry[warp, register]
    if entry == NOBODY:
        read(plan, operand, MRF)
        return
    read(plan, operand, RFC)
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
    """An entry for a register that has none; what the victim held is written back as far as somebody needs it."""
    entry = victim(state, warp)
    if state.register[warp, entry] != NOBODY:
        evict(state, warp, entry, plan)
    state.register[warp, entry] = register
    state.entry[warp, register] = entry
    state.lanes[warp, entry] = 0
    state.flags[warp, entry] = 0
    renew(state, warp, entry)
    return entry


def victim(state: Any, warp: int) -> np.int64:
    """The oldest entry; with ``idle_first`` the oldest that is empty, dead or idle, if there is one."""
    order = state.order[warp]
    if state.idle_first:
        for _ in range(state.entries):
            entry = oldest(order)
            if state.register[warp, entry] == NOBODY or state.flags[warp, entry] & (DEAD | IDLE):
                return entry
            order = next_older(order)
    return oldest(state.order[warp])


def renew(state: Any, warp: int, entry: int | np.int64) -> None:
    """The entry becomes the youngest."""
    state.order[warp] = make_youngest(state.order[warp], entry, state.entries)


def write_entry(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """A result into the cache: over the old content if the register is present, else into an entry of its own."""
    register = program.result[operand]
    entry = state.entry[warp, register]
    if entry == NOBODY:
        entry = entry_for(state, warp, register, plan)
        if state.fill_partial and program.result_partial[operand]:
            move(plan, MRF, RFC, register)
            count(plan, FILLS)
            state.lanes[warp, entry] = ALL_LANES
    elif state.lru:
        renew(state, warp, entry)
    write(plan, operand, RFC)
    state.lanes[warp, entry] = lanes_after(state.lanes[warp, entry], program, pc, operand, plan.mask)
    state.flags[warp, entry] = DIRTY | IDLE if program.result_idle[operand] else DIRTY


def lanes_after(held: int, program: Program, pc: int, operand: int, lanes: int | np.uint32) -> int:
    """The lanes that hold what may still be read of a register, where ``held`` did before some were written.

    All of them if no lane needs its old value.  Which lanes a guard let through is not recorded, so under a guard only
    those count that were held before.
    """
    if not program.result_partial[operand]:
        return ALL_LANES
    return held if program.guarded[pc] else held | int(lanes)


def write_around(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A result to the MRF; an older entry of the register goes, and is written back if lanes of it are still needed."""
    register = program.result[operand]
    entry = state.entry[warp, register]
    if entry != NOBODY:
        if program.result_partial[operand]:
            evict(state, warp, entry, plan)
        else:
            drop(state, warp, entry)
    write(plan, operand, MRF)


def evict(state: Any, warp: int, entry: int | np.int64, plan: Plan) -> None:
    """Empty an entry; its value moves to the MRF if somebody may need it there."""
    if must_write_back(state, warp, entry):
        move(plan, RFC, MRF, state.register[warp, entry])
    drop(state, warp, entry)


def drop(state: Any, warp: int, entry: int | np.int64) -> None:
    """Empty an entry; it is the first to be taken again."""
    state.order[warp] = make_oldest(state.order[warp], entry, state.entries)
    state.entry[warp, state.register[warp, entry]] = NOBODY
    state.register[warp, entry] = NOBODY


def must_write_back(state: Any, warp: int, entry: int | np.int64) -> bool:
    """Whether the MRF lacks a value that somebody may read."""
    flags = state.flags[warp, entry]
    return flags & DIRTY != 0 and not (state.elide_dead and flags & DEAD != 0)


def flush(state: Any, warp: int, plan: Plan) -> None:
    """Empty the warp's cache."""
    for entry in range(state.entries):
        if state.register[warp, entry] != NOBODY:
            if must_write_back(state, warp, entry):
                count(plan, FLUSHED)
            evict(state, warp, entry, plan)
