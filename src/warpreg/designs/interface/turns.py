"""What a scheduling policy sees of the warps of its scheduler, in the hooks ``choose``, ``turns_start`` and
``turns_end``.

The timing cores keep it in the column ``seen`` of the program table, by warp slot, if a design defines one of these
hooks; before each call they fill the rows of that scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program

NOBODY = -1
"""The answer of ``choose`` with which the scheduler issues nothing in this cycle."""
NOTHING, RESULT, LONG_RESULT, BARRIER, FENCE, TOKEN, END = range(7)
"""Answers of `waits_for`."""
CAN_ISSUE, NEXT_PC, WAITS_FOR, IS_FETCHED, AGE = range(5)
"""Columns of ``seen``."""
COLUMNS = 5
HOOKS_WITH_SIGHT = ("choose", "turns_start", "turns_end")


def warps_of(program: Program, scheduler: int) -> range:
    """The warp slots of a scheduler, as hooks number them."""
    sm = scheduler // program.schedulers
    first = sm * program.slots + scheduler % program.schedulers
    return range(first, (sm + 1) * program.slots, program.schedulers)


def can_issue(program: Program, warp: int) -> bool:
    """Whether ``choose`` may choose the warp; false in other hooks."""
    return bool(program.seen[warp, CAN_ISSUE] != 0)


def next_pc(program: Program, warp: int) -> int:
    """The next instruction of a warp, -1 if it has none left or the slot is empty."""
    return int(program.seen[warp, NEXT_PC])


def waits_for(program: Program, warp: int) -> int:
    """What the warp waits for: ``BARRIER``, ``FENCE``, ``TOKEN`` (also if ``admit`` has refused it for some cycles),
    ``LONG_RESULT`` (a long-latency result that its next instruction needs), ``RESULT`` (only others), ``NOTHING``, or
    ``END`` (it has no instruction left, or the slot is empty).

    Fetch, active sets, collectors and units do not count.
    """
    return int(program.seen[warp, WAITS_FOR])


def is_fetched(program: Program, warp: int) -> bool:
    """Whether the next instruction of a warp is fetched, and neither its control code nor a barrier unit holds it."""
    return bool(program.seen[warp, IS_FETCHED] != 0)


def age(program: Program, warp: int) -> int:
    """How many warps were placed in the SM before this one: the oldest has the lowest; -1 for an empty slot."""
    return int(program.seen[warp, AGE])


def with_sight(program: Program, warps: int, hooks: Mapping[str, object]) -> Program:
    """The program for a core with this number of warp slots, if one of the hooks sees them."""
    if hooks.keys().isdisjoint(HOOKS_WITH_SIGHT):
        return program
    return program._replace(seen=np.full((warps, COLUMNS), -1, np.int64))


def mischosen(name: str, warp: int) -> DesignError:
    """``choose`` of a design has returned a warp that it may not choose."""
    return DesignError(f"{name}: choose returned warp {warp}, which is none of those that can issue, nor NOBODY")
