"""The pool of sections of an SM: bitmask, lookup table and find-first-zero (thesis §4.3.2, Figure 4.5).

A state that uses it has these fields.  Per SM: ``taken`` [section], 1 if a warp has it, and ``held`` [1], how many are
taken.  Per warp: ``section`` (the lookup table; NO_SECTION where the status bit is not set), ``flight``, accesses of
its section that are planned and not done, and ``leaving``, 1 if it is released but such accesses are left.

A section returns to the pool when its warp has released it and no operand of an earlier instruction waits to be read or
written there.  The text is silent on these; without this rule another warp could overwrite what is still to be read.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import Plan, level, wake

NO_SECTION = -1
TOKEN = 0
"""What warps wait for that find no section."""
HELD = 0
"""Resource: sections that are taken."""


def first_free(state: Any, sm: int) -> int:
    """Find first zero: the lowest section that nobody has, NO_SECTION if all are taken."""
    for section in range(state.sections):
        if state.taken[sm, section] == 0:
            return section
    return NO_SECTION


def take_section(state: Any, warp: int, plan: Plan) -> bool:
    """A warp acquires: it gets a section, keeps the one it has or has not left yet; False if there is none."""
    if state.section[warp] != NO_SECTION:
        state.leaving[warp] = 0
        return True
    section = first_free(state, plan.sm)
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
    """The warp's section returns to the pool, and warps that wait for one try again."""
    state.taken[plan.sm, state.section[warp]] = 0
    state.section[warp] = NO_SECTION
    state.leaving[warp] = 0
    state.held[plan.sm, 0] -= 1
    level(plan, HELD, state.held[plan.sm, 0])
    wake(plan, TOKEN)
