"""Sum what warps wait for by the instruction that they wait to issue, instead of writing events.

A wait that began before the last issue of its slot, and ends with it, belongs to that instruction; one that began since
belongs to the next one that issues from the slot, if there is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.noinline import noinline
from piecewise_numba.records import record_type
from warpreg.designs.interface.plan import Plan
from warpreg.timing.core import conditions as when
from warpreg.timing.core.columns import causes, machine
from warpreg.timing.core.conditions import Recording
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, array_of
from warpreg.timing.tracing import event_writers
from warpreg.timing.tracing.buffers import END, IS, SINCE
from warpreg.timing.tracing.event_rows import Kind

PC, CYCLE = range(2)
"""Columns of ``latest``: the instruction that issued last from a slot, and when."""
STATE = int(Kind.STATE)

WaitCore = record_type("WaitCore", (*Core._fields, "place", "lasting", "latest", "pending", "by_pc"))
"""A `Core` with sums: ``place``, ``lasting`` as in a `TracedCore`; by warp slot of all SMs ``latest`` int64[slots, 2]
and ``pending`` int64[slots, causes], the waits since; ``by_pc`` int64[instructions, causes].
"""


@stands_for(event_writers.append, when.WAITS)
@noinline
def add(c: Any, kind: int, sm: int, slot: int, unit: int, pc: int, sequence: int, value: int, now: int) -> None:
    """In place of `event_writers.append`: an issue, or the end of a cause ``unit`` after ``sequence`` cycles."""
    row = sm * c.machine[machine.SLOTS] + slot
    if kind == STATE:
        if now < c.latest[row, CYCLE]:
            c.by_pc[c.latest[row, PC], unit] += sequence
        else:
            c.pending[row, unit] += sequence
    else:
        c.latest[row, PC] = pc
        c.latest[row, CYCLE] = now
        for cause in range(causes.COUNT):
            c.by_pc[pc, cause] += c.pending[row, cause]
            c.pending[row, cause] = 0


class WaitRecorder:
    """The waits of one launch."""

    recording: Recording = "waits"

    def __init__(self) -> None:
        self._by_pc: NDArray[np.int64] | None = None

    def prepared(self, core: Core, plan: Plan) -> Any:
        """The core with arrays for the sums."""
        m = core.machine
        slots = int(m[machine.SMS] * m[machine.SLOTS])
        lasting, latest = np.zeros((slots, 2), np.int64), np.full((slots, 2), NONE, np.int64)
        lasting[:, IS], lasting[:, SINCE] = causes.EMPTY, 0
        place = np.zeros(END + 1, np.int64)
        place[END] = np.iinfo(np.int64).max
        self._by_pc = np.zeros((array_of(core.code).shape[0], causes.COUNT), np.int64)
        pending = np.zeros((slots, causes.COUNT), np.int64)
        return WaitCore(*core, place=place, lasting=lasting, latest=latest, pending=pending, by_pc=self._by_pc)

    def waits(self, instructions: int) -> NDArray[np.int64]:
        """int64[instructions, causes]: the sums, in cycles, after the run."""
        assert self._by_pc is not None
        return self._by_pc[:instructions]
