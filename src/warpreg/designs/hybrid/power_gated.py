"""The plain register file with power gating of registers that no warp claims (hybrid CMOS-TFET, sections 3.3, 4.2).

This is the baseline of that study.  Registers beyond those of the most warps that are resident at a time are off until
the kernel ends.

Where the text is silent:
- switching registers costs nothing;
- the study takes the number of warps from the launch; here it is that of the most warps that were resident so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Declaration, NoParameters, Plan, Program, Structure, hook, level, per_sm

DESIGN = Declaration(slot="mapping", source="tfet §3.3, §4.2", order="sm", resources=("CMOS registers",))
POWERED = 0
NOW, MOST = range(2)


class State(NamedTuple):
    """Registers of the resident warps."""

    resident: NDArray[np.int64]  # [sm, NOW or MOST]


def init(parameters: NoParameters, program: Program) -> State:
    """An SM without warps."""
    return State(per_sm(np.zeros(2, np.int64)))


def structures(parameters: NoParameters) -> tuple[Structure, ...]:
    """The register file, gated."""
    return (Structure("MRF", powered=DESIGN.resources[POWERED]),)


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    resident = state.resident[plan.sm]
    resident[NOW] += program.register_count
    if resident[NOW] > resident[MOST]:
        resident[MOST] = resident[NOW]
        level(plan, POWERED, resident[MOST])


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    state.resident[plan.sm, NOW] -= program.register_count
