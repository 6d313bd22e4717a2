"""The entries of a bypassing operand collector, which belongs to one warp: lookup, window, eviction, results.

The state is that of `warpreg.designs.parts.storage.bypass_hooks`.  Time is counted in instructions that the warp has
issued.  A register in the collector was last touched at ``touched``; the instruction that issues ``window`` later makes
it leave.  ``ring`` lists the registers touched by each of the last instructions, so that only they are looked at.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.plan_functions import (
    change,
    count,
    move,
    nowhere,
    read,
    write,
)
from warpreg.designs.interface.program import Program, operand_rows, result_operands, source_operands
from warpreg.designs.interface.state import per_warp

MRF, BOC = 0, 1
PRESENT, DIRTY, SAVED = 1, 2, 4
"""Flags of a register: it has an entry; the register file lacks its value and can take it; it does so when the register
leaves."""
TO_BOC, TO_FILE, HOMELESS = 1, 2, 4
"""The two bits of a result, as in `warpreg.designs.parts.window.destinations.Destination`, and that its value has no
register."""
ALL_LANES = 0xFFFFFFFF
EVENTS = (
    "fills", "merged_reads", "consolidated", "evicted", "rescued", "late", "to_neither", "to_collector", "to_file",
    "to_both",
)  # fmt: skip
RESOURCES = ("boc_entries", "boc_over_half")
ENTRIES, OVER_HALF = range(2)
"""Entries in use, of all collectors of an SM, and collectors that use more than half of four entries for each
instruction of the window (Figure 3.9)."""
FILLS, MERGED_READS, CONSOLIDATED, EVICTED, RESCUED, LATE, TO_NEITHER = range(7)
"""Sources that enter from the register file; those of them that complete an entry; results overwritten in the window,
which the register file is spared; entries evicted for lack of room; those of them that were not to be written to the
register file; results that arrive after their window; results by destination."""


def empty_collector(program: Program, window: int) -> dict[str, Any]:
    """The initial fields of a warp's collector."""
    registers = program.register_count
    sources, results = operand_rows(program)
    return {
        "clock": per_warp(np.int32(0)),
        "used": per_warp(np.int32(0)),
        "serial": per_warp(np.int32(0)),
        "flags": per_warp(np.zeros(registers, np.uint8)),
        "touched": per_warp(np.zeros(registers, np.int32)),
        "entered": per_warp(np.zeros(registers, np.int32)),
        "lanes": per_warp(np.zeros(registers, np.uint32)),
        "issued": per_warp(np.zeros(registers, np.int32)),
        "coming": per_warp(np.zeros(registers, np.uint32)),
        "ring": per_warp(np.zeros((window + 1, sources + 2 * results + 1), np.uint16)),
        "ring_size": per_warp(np.zeros(window + 1, np.int32)),
    }


def collector_entries(design: str, program: Program, window: int, entries: int) -> int:
    """The entries of a collector, four for each instruction of the window if ``entries`` is 0.

    Raises DesignError if they cannot hold the source registers of every instruction.
    """
    size = entries or 4 * window
    sources = program.source.tolist()
    most = max((len(set(sources[first:end])) for first, end in pairwise(program.source_start.tolist())), default=0)
    if window > 1 and size < most:
        raise DesignError(f"{design}: entries expects at least {most}, the sources of one instruction, found {size}")
    return size


def read_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Move the window on by one instruction, and plan its sources.

    All sources are looked up before any of them is given an entry.
    """
    before = state.used[warp]
    state.clock[warp] += 1
    if not state.looks_up_first:
        expire(state, warp, plan)
    for operand in source_operands(program, pc):
        read_source(state, program, warp, operand, plan)
    if state.looks_up_first:
        expire(state, warp, plan)
    make_room(state, warp, plan)
    reserve_results(state, program, warp, pc, plan)
    note_entries(state, warp, before, plan)


def read_source(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Forward a source, or read it from the register file into an entry.  A source that an instruction names twice is
    read once."""
    register = program.source[operand]
    if state.flags[warp, register] == 0:
        read(plan, operand, MRF)
        count(plan, FILLS)
        add(state, warp, register, state.clock[warp])
        state.lanes[warp, register] = ALL_LANES
    elif plan.mask & ~state.lanes[warp, register]:
        read(plan, operand, MRF)
        count(plan, MERGED_READS)
        state.lanes[warp, register] = ALL_LANES
        touch(state, warp, register, state.clock[warp])
    else:
        read(plan, operand, BOC, cycles=0)
        if state.extended:
            touch(state, warp, register, state.clock[warp])


def reserve_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """An instruction with results issues: what it overwrites in all lanes leaves, since nothing can read it."""
    for operand in result_operands(program, pc):
        register = program.result[operand]
        state.issued[warp, register] = state.clock[warp]
        state.coming[warp, register] = 0 if program.guarded[pc] else plan.mask
        if state.flags[warp, register] & PRESENT:
            if program.result_partial[operand]:
                touch(state, warp, register, state.clock[warp])
            else:
                if state.flags[warp, register] & SAVED:
                    count(plan, CONSOLIDATED)
                drop(state, warp, register)


def enter_result(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """A result is there: write it where its bits say.

    One that arrives after its window has passed goes to the register file if it goes there at all.
    """
    before = state.used[warp]
    place_result(state, program, warp, operand, plan)
    note_entries(state, warp, before, plan)


def place_result(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """Give a result its entry, or make that of its register leave; write it."""
    register, bits = program.result[operand], state.bits[operand]
    count(plan, TO_NEITHER + (bits & (TO_BOC | TO_FILE)))
    in_time = state.clock[warp] - state.issued[warp, register] < state.window
    if bits & TO_BOC and in_time:
        hold_result(state, program, warp, operand, bits, plan)
        write(plan, operand, BOC)
        if not state.writes_back:
            write(plan, operand, MRF)
        make_room(state, warp, plan)
        return
    if bits & TO_BOC:
        count(plan, LATE)
    if state.flags[warp, register] & PRESENT:
        leave(state, warp, register, plan)
    if bits & TO_FILE:
        write(plan, operand, MRF)
    else:
        nowhere(plan, operand)


def hold_result(state: Any, program: Program, warp: int, operand: int, bits: int, plan: Plan) -> None:
    """Give a result an entry; one that writes some lanes joins the entry of its register if there is one."""
    register = program.result[operand]
    partial = program.result_partial[operand] != 0
    held, flags = 0, 0
    if state.flags[warp, register] & PRESENT:
        held, flags = state.lanes[warp, register], state.flags[warp, register]
        touch(state, warp, register, state.issued[warp, register])
    else:
        add(state, warp, register, state.issued[warp, register])
    state.lanes[warp, register] = held | state.coming[warp, register] if partial else ALL_LANES
    if state.writes_back and not bits & HOMELESS:
        flags |= DIRTY | SAVED if bits & TO_FILE else DIRTY
    state.flags[warp, register] = PRESENT | flags


def add(state: Any, warp: int, register: int, at: int) -> None:
    """Give a register a clean entry, the youngest."""
    state.flags[warp, register] = PRESENT
    state.entered[warp, register] = state.serial[warp]
    state.serial[warp] += 1
    state.used[warp] += 1
    touch(state, warp, register, at)


def touch(state: Any, warp: int, register: int, at: int) -> None:
    """An instruction that issued at ``at`` uses a register."""
    row = at % (state.window + 1)
    state.touched[warp, register] = at
    state.ring[warp, row, state.ring_size[warp, row]] = register
    state.ring_size[warp, row] += 1


def expire(state: Any, warp: int, plan: Plan) -> None:
    """The oldest instruction leaves the window, with the registers that no later one has touched."""
    last = state.clock[warp] - state.window
    row = last % (state.window + 1)
    for place in range(state.ring_size[warp, row]):
        register = state.ring[warp, row, place]
        if state.flags[warp, register] & PRESENT and state.touched[warp, register] == last:
            leave(state, warp, register, plan)
    state.ring_size[warp, row] = 0


def leave(state: Any, warp: int, register: int, plan: Plan) -> None:
    """Free an entry at the end of its window; its value goes to the register file if it is to be saved."""
    move(plan, BOC, MRF, register, amount=state.flags[warp, register] & SAVED != 0)
    drop(state, warp, register)


def drop(state: Any, warp: int, register: int) -> None:
    """Free an entry."""
    state.flags[warp, register] = 0
    state.used[warp] -= 1


def note_entries(state: Any, warp: int, before: int, plan: Plan) -> None:
    """A hook ends, at whose beginning ``before`` entries were in use."""
    used, half = state.used[warp], 2 * state.window
    if used != before:
        change(plan, ENTRIES, used - before)
        if (used > half) != (before > half):
            change(plan, OVER_HALF, int(used > half) - int(before > half))


def make_room(state: Any, warp: int, plan: Plan) -> None:
    """Evict the entries that were made first until the others fit.  What the register file lacks is saved, because
    the collector does not know whether it is read again."""
    while state.used[warp] > state.entries:
        register = oldest(state, warp)
        count(plan, EVICTED)
        if state.flags[warp, register] & DIRTY:
            move(plan, BOC, MRF, register)
            if not state.flags[warp, register] & SAVED:
                count(plan, RESCUED)
        drop(state, warp, register)


def oldest(state: Any, warp: int) -> int:
    """The register whose entry was made first."""
    earliest, first = 0, state.serial[warp]
    for row in range(state.window + 1):
        for place in range(state.ring_size[warp, row]):
            register = state.ring[warp, row, place]
            if state.flags[warp, register] & PRESENT and state.entered[warp, register] < first:
                earliest, first = register, state.entered[warp, register]
    return earliest
