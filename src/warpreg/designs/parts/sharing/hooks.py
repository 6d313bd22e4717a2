"""The hooks of RegMutex.

An acquire gets its section when it is admitted.  The section of an operand decides its bank when the operand is
planned, and it stays that of the warp until the operand has been read or written.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import (
    GO,
    MRF,
    UNSET,
    Plan,
    Program,
    count,
    hook,
    is_timed,
    read,
    result_operands,
    source_operands,
    update,
    write,
)
from warpreg.designs.parts.sharing.instructions import ACQUIRE, RELEASE
from warpreg.designs.parts.sharing.pool import (
    NO_SECTION,
    end_access,
    give_back,
    leave_section,
    take_section,
    token_of,
)

EVENTS = ("acquires", "acquires at once", "releases", "refusals")
ACQUIRES, AT_ONCE, RELEASES, REFUSALS = range(4)
"""Acquires and releases that issued; acquires that found a section when they first asked; times that one found none."""
RESOURCES = ("sections held",)
SECTIONS, WARP_STATUS, SECTION_OF_WARP = range(3)
"""Tables of a design: the bitmask of sections, or of pairs; with a pool also status bits and numbers by warp slot."""


@hook
def admit(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if program.hints.action[pc] != ACQUIRE or state.extended == 0:
        return GO
    if take_section(state, warp, plan):
        return GO
    state.waited[warp] = 1
    count(plan, REFUSALS)
    return token_of(state, state.pair[warp])


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        read(plan, operand, MRF, bank=bank_of(state, program, warp, program.source[operand]))


@hook
def issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    action = program.hints.action[pc]
    if action == ACQUIRE:
        count(plan, ACQUIRES)
        count(plan, AT_ONCE, 1 - state.waited[warp])
        state.waited[warp] = 0
        if is_timed(plan):
            update_tables(state, program, warp, plan)
    elif action == RELEASE:
        count(plan, RELEASES)
        if is_timed(plan):
            update_tables(state, program, warp, plan)
            leave_section(state, warp, plan)
    elif is_timed(plan):
        state.flight[warp] += program.hints.reads[pc] + program.hints.writes[pc]


@hook
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if program.source[operand] >= state.base and is_timed(plan):
        end_access(state, warp, plan)


@hook
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        write(plan, operand, MRF, bank=bank_of(state, program, warp, program.result[operand]))


@hook
def written_back(
    state: Any,
    program: Program,
    warp: int,
    pc: int,
    next_pc: int,
    base: int,
    stride: int,
    mask: int,
    plan: Plan,
) -> None:
    if program.hints.writes[pc]:
        end_access(state, warp, plan)


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if state.section[warp] != NO_SECTION:
        give_back(state, warp, plan)


@hook
def owner(state: Any, program: Program, warp: int, token: int) -> int:
    first = warp - warp % program.slots
    for other in range(first, first + program.slots):
        section = state.section[other]
        if section != NO_SECTION and token_of(state, section) == token:
            return other
    return -1


def update_tables(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """An acquire or a release writes the bit of the section, and with a pool the row of the warp."""
    update(plan, SECTIONS, max(0, state.section[warp]))
    if not state.paired:
        update(plan, WARP_STATUS, warp % program.slots)
        update(plan, SECTION_OF_WARP, warp % program.slots)


def bank_of(state: Any, program: Program, warp: int, register: int) -> int:
    """The bank of a physical register (Figure 4.6); UNSET for that of the machine's mapping."""
    if state.banks == 0:
        return UNSET
    if register < state.base:
        return int((state.base * (warp % program.slots) + register) % state.banks)
    section = max(0, state.section[warp])
    return int((state.offset + state.extended * section + register - state.base) % state.banks)
