"""Records, together with any design of levels, the age of a register when it is read, by the level that serves the read
(rc-rsp Figure 12).

An age is in cycles from issue to issue, since the last instruction of the warp that accessed the register.  The first
access of a register has no age.  Names of events: ``age_<level>_<class>``; class ``n`` contains ages from
``n * CLASS_CYCLES`` on; the last class is unbounded.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import MRF, Declaration, Plan, Program, count, hook, now, per_warp, read
from warpreg.designs.interface.plan import LEVEL

CLASS_CYCLES, CLASSES, LEVELS = 4, 64, 3
DESIGN = Declaration(
    slot="policy",
    order="warp",
    events=tuple(f"age_{level}_{age}" for level in range(LEVELS) for age in range(CLASSES)),
    source="rc-rsp §IV-C, Fig 12",
)
NEVER = -1


@dataclass(frozen=True)
class Parameters:
    """No parameters."""


class State(NamedTuple):
    """Per warp: the cycle of the last access of each register (``touched``), NEVER if there was none."""

    touched: NDArray[np.int64]


def init(parameters: Parameters, program: Program) -> State:
    """The initial state: no register has been accessed."""
    return State(per_warp(np.full(program.register_count, NEVER, np.int64)))


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    first, end = program.source_start[pc], program.source_start[pc + 1]
    for operand in range(first, end):
        before = state.touched[warp, program.source[operand]]
        level = max(0, plan.sources[operand - plan.first_source, LEVEL])
        read(plan, operand, MRF)
        if before != NEVER:
            count(plan, level * CLASSES + min(CLASSES - 1, (now(plan) - before) // CLASS_CYCLES))
    for operand in range(first, end):
        state.touched[warp, program.source[operand]] = now(plan)


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        state.touched[warp, program.result[operand]] = now(plan)
