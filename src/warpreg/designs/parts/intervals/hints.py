"""Hints of intervals by pc: the interval, its working set, and the registers whose values are still needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Program
from warpreg.designs.parts.intervals.bit_sets import bit_sets, bit_sets_of
from warpreg.designs.parts.intervals.formation import Intervals


class IntervalHints(NamedTuple):
    """By pc; sets of registers are words as in `warpreg.designs.parts.intervals.bit_sets`.

    ``needed_before`` and ``needed_after`` the instruction: a lane of the warp may still read the value.
    """

    interval: NDArray[np.int32]
    working_set: NDArray[np.int64]
    needed_before: NDArray[np.int64]
    needed_after: NDArray[np.int64]


def interval_hints(program: Program, analysis: Analysis, intervals: Intervals) -> IntervalHints:
    """The hints of a kernel."""
    of_pc = intervals.of_pc()
    sets = bit_sets(intervals.working_sets, program.register_count)
    before, after = (bit_sets_of(flags, program.register_count) for flags in needed(analysis))
    return IntervalHints(np.array(of_pc, np.int32), sets[np.array(of_pc, np.int64)], before, after)


def needed(analysis: Analysis) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """bool[pcs, registers] before and after each instruction: live, or kept for lanes that wait."""
    waiting = analysis.waiting[analysis.block_of]
    return analysis.live_before | waiting, analysis.live_after | waiting


def reasons(intervals: Intervals) -> Mapping[int, str]:
    """By pc at which an interval may begin: its number and working set."""
    found: dict[int, str] = {}
    before = -1
    for piece, interval in zip(intervals.graph.pieces, intervals.of_piece, strict=True):
        if interval != before and piece.end > piece.first:
            names = " ".join(f"R{register}" for register in sorted(intervals.working_sets[interval]))
            found[piece.first] = f"interval {interval}: {names or 'nothing in the cache'}"
        before = interval
    return found
