"""What a replay along a schedule knows of instructions with late results: widths, active lanes, what is planned.

The functions are what holds without, and leave no code; `KEPT` has those that take their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from warpreg.counting.status import NOT_LATE, OK, TOO_MANY_LATE
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.program import Program

Longs = NDArray[np.int64]
MOST = 512
"""Instructions of a warp whose results are under way, at most."""


class LateResults(NamedTuple):
    """By warp slot: how many widths of the warp are ``taken``; where those of the visit are, counted from the first one
    of the warp and less the first result row of the visit (``at``); how many instructions are under way (``pending``).

    Of these, the oldest first: ``pc`` and ``widths`` int64[slots, room], widths like ``at``; ``mask`` uint32 of the
    same shape; ``results`` int32[slots, room, results, 2, columns] is what is planned of their results.
    ``recalled`` [1]: the lanes of the instruction that was recalled last.
    """

    taken: Longs
    at: Longs
    pending: Longs
    pc: Longs
    widths: Longs
    mask: NDArray[np.uint32]
    recalled: NDArray[np.uint32]
    results: NDArray[np.int32]


def new(program: Program, blank: Plan, slots: int, kept: bool, planned: bool) -> LateResults:
    """For a kernel, before anything has happened; without room where nothing is ``kept``, or where results are not
    ``planned`` before they arrive.
    """
    room = min(MOST, 16 + int(np.count_nonzero(program.long_latency))) if kept else 0
    rows = blank.results.shape if planned else (0, 0, 0)
    taken, at, pending = (np.zeros(slots, np.int64) for _ in range(3))
    pc, widths = (np.zeros((slots, room), np.int64) for _ in range(2))
    mask = np.zeros((slots, room), np.uint32)
    results = np.zeros((slots, room, *rows), np.int32)
    return LateResults(taken, at, pending, pc, widths, mask, np.zeros(1, np.uint32), results)


def are_kept() -> bool:
    """Whether anything is."""
    return False


def start(late: LateResults, warp: int) -> None:
    """A warp enters a slot."""


def enter(late: LateResults, program: Program, warp: int, block: int) -> None:
    """It visits a basic block."""


def see(late: LateResults, blank: Plan, starts: Longs, rows: Longs, warp: int) -> None:
    """Hooks are called for instructions of the visit; ``starts``: where widths begin, by row; ``rows`` by slot."""


def keep(late: LateResults, blank: Plan, warp: int, pc: int, mask: int) -> int:
    """An instruction with late results has issued; returns a status."""
    return OK


def recall(late: LateResults, blank: Plan, starts: Longs, rows: Longs, warp: int, pc: int) -> int:
    """Its results arrive: what was known of it is known again."""
    return OK


def mask_of(late: LateResults, mask: int) -> int:
    """The lanes of the instruction that was recalled; ``mask`` are those of the warp now."""
    return mask


def they_are_kept() -> bool:
    """In place of `are_kept`."""
    return True


def forget_late(late: LateResults, warp: int) -> None:
    """In place of `start`."""
    late.taken[warp] = late.at[warp] = late.pending[warp] = 0


def enter_visit(late: LateResults, program: Program, warp: int, block: int) -> None:
    """In place of `enter`."""
    first = program.result_start[program.first_pc[block]]
    late.at[warp] = late.taken[warp] - first
    late.taken[warp] += program.result_start[program.first_pc[block + 1]] - first


def see_visit(late: LateResults, blank: Plan, starts: Longs, rows: Longs, warp: int) -> None:
    """In place of `see`."""
    if rows[warp] >= 0:
        blank.width_at[0] = starts[rows[warp]] + late.at[warp]


def keep_late(late: LateResults, blank: Plan, warp: int, pc: int, mask: int) -> int:
    """In place of `keep`."""
    index = late.pending[warp]
    if index == late.pc.shape[1]:
        return TOO_MANY_LATE
    late.pending[warp] += 1
    late.pc[warp, index] = pc
    late.widths[warp, index] = late.at[warp]
    late.mask[warp, index] = mask
    for k in range(late.results.shape[2]):
        for place in range(late.results.shape[3]):
            for column in range(late.results.shape[4]):
                late.results[warp, index, k, place, column] = blank.results[k, place, column]
    return OK


def recall_late(late: LateResults, blank: Plan, starts: Longs, rows: Longs, warp: int, pc: int) -> int:
    """In place of `recall`."""
    index = 0
    while index < late.pending[warp] and late.pc[warp, index] != pc:
        index += 1
    if index == late.pending[warp]:
        return NOT_LATE
    blank.width_at[0] = starts[rows[warp]] + late.widths[warp, index]
    late.recalled[0] = late.mask[warp, index]
    late.pending[warp] -= 1
    for k in range(late.results.shape[2]):
        for place in range(late.results.shape[3]):
            for column in range(late.results.shape[4]):
                blank.results[k, place, column] = late.results[warp, index, k, place, column]
                for other in range(index, late.pending[warp]):
                    late.results[warp, other, k, place, column] = late.results[warp, other + 1, k, place, column]
    for other in range(index, late.pending[warp]):
        late.pc[warp, other] = late.pc[warp, other + 1]
        late.widths[warp, other] = late.widths[warp, other + 1]
        late.mask[warp, other] = late.mask[warp, other + 1]
    return OK


def recalled_mask(late: LateResults, mask: int) -> int:
    """In place of `mask_of`."""
    lanes: int = late.recalled[0]
    return lanes


KEPT: Mapping[Function, Function] = {
    are_kept: they_are_kept,
    start: forget_late,
    enter: enter_visit,
    see: see_visit,
    keep: keep_late,
    recall: recall_late,
    mask_of: recalled_mask,
}
