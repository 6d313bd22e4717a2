"""The pool of sections of an SM: bitmask, lookup table and find-first-zero (thesis §4.3.2, Figure 4.5).

A section returns to the pool when its warp has released it and no operand of an earlier instruction waits to be read or
written there.  The text is silent on these; without this rule another warp could overwrite what is still to be read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Plan, Program, Room, level, per_sm, per_warp, wake
from warpreg.designs.parts.sharing.choice import base_of

SLOTS = 48
"""Warp slots of the paper's machine (N_w)."""
NO_SECTION = -1
HELD = 0
"""Resource: sections that are taken."""


class State(NamedTuple):
    """The sections of a pool, and who has them."""

    taken: NDArray[np.uint8]
    """By SM [section]: 1 if a warp has it."""
    held: NDArray[np.int64]
    """By SM [1]: how many are taken."""
    members: NDArray[np.uint8]
    """By SM [pair]: the warps of the pair that run."""
    section: NDArray[np.int64]
    """By warp, the lookup table; NO_SECTION where the status bit is not set."""
    flight: NDArray[np.int64]
    """By warp: planned accesses of its section that are not done."""
    leaving: NDArray[np.uint8]
    """By warp: 1 if its section is released but such accesses are left."""
    waited: NDArray[np.uint8]
    """By warp: 1 if its acquire has found none."""
    pair: NDArray[np.int64]
    """By warp: the number of its pair."""
    base: int
    """Registers that a warp has always."""
    extended: int
    """Registers of a section."""
    sections: int
    """Of the pool."""
    offset: int
    """The first physical register of the pool."""
    banks: int
    """0 for the machine's mapping."""
    paired: bool
    """A section belongs to a pair of warps."""


def pool_state(
    room: Room | None, program: Program, extended: int, sections: int, maps: bool, paired: bool = False
) -> State:
    """A pool of free sections; without ``extended`` registers, or without ``room`` in a replay, it has none.

    ``maps``: physical registers have banks by their number, unless schedulers have banks of their own.
    """
    has_pool = room is not None and extended > 0
    count = sections if has_pool else 0
    return State(
        taken=per_sm(np.zeros(max(1, count), np.uint8)),
        held=per_sm(np.zeros(1, np.int64)),
        members=per_sm(np.zeros(max(1, count), np.uint8)),
        section=per_warp(np.int64(NO_SECTION)),
        flight=per_warp(np.int64(0)),
        leaving=per_warp(np.uint8(0)),
        waited=per_warp(np.uint8(0)),
        pair=per_warp(np.int64(NO_SECTION)),
        base=base_of(program, room, extended),
        extended=extended if has_pool else 0,
        sections=count,
        offset=room.warps * room.residency.registers if room is not None else 0,
        banks=room.banks if room is not None and has_pool and maps and not room.private_banks else 0,
        paired=paired,
    )


def find_section(state: Any, warp: int, sm: int) -> int:
    """The section that a warp may take: that of its pair, or the lowest one (find first zero); else NO_SECTION."""
    if state.paired:
        own = state.pair[warp]
        return own if state.taken[sm, own] == 0 else NO_SECTION
    for section in range(state.sections):
        if state.taken[sm, section] == 0:
            return section
    return NO_SECTION


def take_section(state: Any, warp: int, plan: Plan) -> bool:
    """A warp acquires: it gets a section, or keeps the one that it has or has not left yet; False if there is none."""
    if state.section[warp] != NO_SECTION:
        state.leaving[warp] = 0
        return True
    section = find_section(state, warp, plan.sm)
    if section == NO_SECTION:
        return False
    state.taken[plan.sm, section] = 1
    state.section[warp] = section
    state.held[plan.sm, 0] += 1
    level(plan, HELD, state.held[plan.sm, 0])
    return True


def leave_section(state: Any, warp: int, plan: Plan) -> None:
    """A warp releases; without a section, nothing happens."""
    if state.section[warp] == NO_SECTION:
        return
    if state.flight[warp]:
        state.leaving[warp] = 1
    else:
        give_back(state, warp, plan)


def end_access(state: Any, warp: int, plan: Plan) -> None:
    """An access of the warp's section is done."""
    state.flight[warp] -= 1
    if state.leaving[warp] and state.flight[warp] == 0:
        give_back(state, warp, plan)


def give_back(state: Any, warp: int, plan: Plan) -> None:
    """The warp's section returns to the pool, and warps that wait for it try again."""
    section = state.section[warp]
    state.taken[plan.sm, section] = 0
    state.section[warp] = NO_SECTION
    state.leaving[warp] = 0
    state.held[plan.sm, 0] -= 1
    level(plan, HELD, state.held[plan.sm, 0])
    wake(plan, token_of(state, section))


def token_of(state: Any, section: int) -> int:
    """What a warp waits for: any section, or that of its pair."""
    return section if state.paired else 0


def join_pair(state: Any, warp: int, partner: int, sm: int) -> None:
    """A warp starts: it joins the pair of its ``partner``, or begins the lowest one without warps (-1)."""
    number = 0
    if partner >= 0:
        number = state.pair[partner]
    else:
        while state.members[sm, number] != 0:
            number += 1
    state.pair[warp] = number
    state.members[sm, number] += 1


def leave_pair(state: Any, warp: int, sm: int) -> None:
    """A warp has ended."""
    state.members[sm, state.pair[warp]] -= 1
