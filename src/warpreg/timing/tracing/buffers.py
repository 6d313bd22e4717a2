"""The arrays of a core that records, and the window."""

from __future__ import annotations

from typing import Any

import numpy as np

from piecewise_numba.records import record_type
from warpreg.designs.interface.plan import Plan
from warpreg.timing.core.columns import causes
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import Array
from warpreg.timing.tracing.event_rows import WORDS

COUNT, ROOM, BEGIN, END = range(4)
"""Words of ``place``: rows so far, also beyond the room; room for rows; the first cycle, and the end of the window."""
IS, SINCE = range(2)
"""Columns of what lasts: its value, and its first cycle."""


TracedCore = record_type("TracedCore", (*Core._fields, "events", "place", "lasting", "before"))
"""A `Core` with room for events: ``events`` int32[room, WORDS]; ``place`` int64[4]; ``lasting`` int64[warp slots, then
resources of each SM, 2]; ``before`` int64[counters].
"""


def traced(core: Core, slots: int, resources: int, counted: int, room: int, begin: int, end: int) -> Any:
    """The core with buffers for its ``slots`` and ``resources`` of all SMs; its window is [begin, end)."""
    lasting = np.zeros((max(1, slots + resources), 2), np.int64)
    lasting[:slots, IS] = causes.EMPTY
    return TracedCore(
        *core,
        events=np.zeros((max(1, room), WORDS), np.int32),
        place=np.array([0, room, begin, end], np.int64),
        lasting=lasting,
        before=np.zeros(max(1, counted), np.int64),
    )


def counters(plan: Plan) -> tuple[Array, ...]:
    """The counters of a plan in the order of COUNTED events, flat."""
    return plan.accesses, plan.spared, plan.moves.reshape(-1), plan.events, plan.tables.reshape(-1)
