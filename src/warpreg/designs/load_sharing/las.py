"""LAS, the locality-aware scheduler of LARF: warps whose next load hits go first (thesis of 2021, §5.4, §5.5.3).

A warp has two instructions in its buffer.  When a result of the warp is written back, the addresses of those of them
that are global loads are looked up in the address mapping table (§5.5.3); so are those of a load that becomes the next
instruction (§5.4), for which the register of its address is read.  A load whose address is not written yet is not
looked up.  If an entry has the words, or two entries together, the warp has priority until that load has issued.  All
other warps, and several with priority, follow the order of the machine's scheduler, which is loose round-robin in the
thesis.  It looks into the table of ``larf`` and needs that design beside it.

Where the text is silent:

- the buffer has what stands behind the next instruction in the code; behind a branch that is taken it has no load;
- the instruction before a load that was found goes first too, as the text gives the priority to the warp;
- the entry may leave the table before the load issues; the priority stays;
- there is no ageing: a warp waits as long as others have priority.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.records import by_reference
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, NoParameters, Plan, Program, count, hook, per_warp
from warpreg.designs.parts.load_sharing.hints import words_by_pc
from warpreg.designs.parts.load_sharing.shared_loads import would_share

DESIGN = Declaration(slot="policy", source="larf §5.4, §5.5.3", order="sm", events=("near",), uses=("larf",))
NEAR = 0
NONE = -1


class Hints(NamedTuple):
    """By pc: ``words`` of loads that may share registers, as in `LoadHints`."""

    words: NDArray[np.uint8]


class State(NamedTuple):
    """The state of LARF; ``first`` [warp], the load up to which the warp goes first, or NONE."""

    larf: Any
    first: NDArray[np.int64]


def hints(program: Program, parameters: NoParameters, analysis: Analysis) -> Hints:
    """Which loads may share."""
    return Hints(words_by_pc(program, analysis))


def init(parameters: NoParameters, program: Program) -> State:
    """No warp goes first; LARF is needed."""
    return State(None, per_warp(np.int64(NONE)))


@hook
def buffered(
    state: State, program: Program, warp: int, pc: int, ahead: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    words = int(program.hints.words[pc]) if mask != 0 else 0
    if words == 0 or (state.first[warp] != NONE and ahead == 0) or state.first[warp] == pc:
        return
    if would_share(by_reference(state.larf), warp, words, base, stride, mask, plan.sm):
        state.first[warp] = pc
        count(plan, NEAR)


@hook
def priority(state: State, program: Program, warp: int, pc: int) -> int:
    return 1 if state.first[warp] != NONE else 0


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.first[warp] == pc:
        state.first[warp] = NONE
