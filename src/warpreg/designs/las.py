"""LAS, the locality-aware scheduler of LARF: warps whose next load hits go first (thesis of 2021, §5.4, §5.5.3).

When a result of a warp is written back, the addresses of its next instruction are looked up in the address mapping
table, if that is a global load.  If an entry has them, or two entries together, the warp has priority until that load
has issued.  All other warps, and several with priority, follow the order of the machine's scheduler, which is loose
round-robin in the thesis.  It looks into the table of ``larf`` and needs that design beside it.

Where the text is silent:

- the look-up happens at every write-back of a warp whose next instruction is the load, not only at that of the address;
  a load that becomes the next instruction after the last write-back is not looked up (section 5.4 reads the register);
- the entry may leave the table before the load issues; the priority stays;
- there is no ageing: a warp waits as long as others have priority.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, NoParameters, Plan, Program, count, hook, per_warp
from warpreg.designs.load_sharing.hints import words_by_pc
from warpreg.designs.load_sharing.loads import would_share
from warpreg.jit.records import by_reference

DESIGN = Declaration(slot="policy", source="larf §5.4, §5.5.3", order="sm", events=("near",), uses=("larf",))
NEAR = 0
NONE = -1


class Hints(NamedTuple):
    """By pc: ``words`` of loads that may share registers, as in `LoadHints`."""

    words: NDArray[np.uint8]


class State(NamedTuple):
    """The state of LARF; ``first`` [warp], the load with which the warp goes first, or NONE."""

    larf: Any
    first: NDArray[np.int64]


def hints(program: Program, parameters: NoParameters, analysis: Analysis) -> Hints:
    """Which loads may share."""
    return Hints(words_by_pc(program, analysis))


def init(parameters: NoParameters, program: Program) -> State:
    """No warp goes first; LARF is needed."""
    return State(None, per_warp(np.int64(NONE)))


@hook
def written_back(
    state: State, program: Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    words = int(program.hints.words[next_pc]) if next_pc >= 0 and mask != 0 else 0
    if words == 0 or state.first[warp] == next_pc:
        return
    if would_share(by_reference(state.larf), warp, words, base, stride, mask, plan.sm):
        state.first[warp] = next_pc
        count(plan, NEAR)


@hook
def priority(state: State, program: Program, warp: int, pc: int) -> int:
    return 1 if state.first[warp] == pc else 0


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.first[warp] == pc:
        state.first[warp] = NONE
