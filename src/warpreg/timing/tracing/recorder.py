"""Record the events of one launch: give the core room, then read what it has written."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.plan import Plan
from warpreg.timing.core.columns import machine
from warpreg.timing.core.conditions import Recording
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, Array
from warpreg.timing.tracing import event_rows
from warpreg.timing.tracing.buffers import COUNT, IS, SINCE, counters, traced
from warpreg.timing.tracing.event_rows import EVENT, SPANS, Kind


class Records(Protocol):
    """What records something of a run: which functions it puts around those of the core, and a core with room for it.
    Hooks count in the ``plan``.
    """

    @property
    def recording(self) -> Recording: ...

    def prepared(self, core: Core, plan: Plan) -> Any: ...


class Recorder:
    """Events of the cycles ``begin`` to ``end``, exclusive, of a launch, at most ``room``."""

    recording: Recording = "events"

    def __init__(self, begin: int, end: int, room: int) -> None:
        self.begin, self.end, self.room = begin, end, room
        self.missed = 0
        """Events beyond the room, once they are read."""

    def prepared(self, core: Core, plan: Plan) -> Any:
        """The core with buffers; hooks count in the ``plan``."""
        m = core.machine
        slots, resources = int(m[machine.SMS] * m[machine.SLOTS]), plan.levels.shape[0] * plan.levels.shape[1]
        counted = sum(one.size for one in counters(plan))
        return traced(core, slots, resources, counted, self.room, self.begin, self.end)

    def events(self, core: Any, cycles: int, launch: int = 0, offset: int = 0) -> NDArray[Any]:
        """EVENT[events] of a core that has run for ``cycles``, by cycle, then by SM, then as they happened.

        Spans are cut at the ends of the window.  ``launch`` is its number, ``offset`` its first cycle in the run.  If
        the core had too little room, events are ``missed``.
        """
        self.missed = max(0, int(core.place[COUNT]) - self.room)
        written = core.events[: core.place[COUNT]].astype(np.int64)
        written = written[written[:, event_rows.CYCLE] < cycles]  # an SM may have been stepped beyond the end
        words = np.concatenate((written, self._open_spans(core, cycles)))
        events = np.zeros(len(words), EVENT)
        is_span = np.isin(words[:, event_rows.KIND], SPANS)
        first = np.where(is_span, np.maximum(words[:, event_rows.CYCLE], self.begin), words[:, event_rows.CYCLE])
        last = words[:, event_rows.CYCLE] + np.where(is_span, words[:, event_rows.SEQUENCE], 1)
        events["launch"], events["cycle"] = launch, first + offset
        events["cycles"] = np.minimum(last, self.end) - first
        events["sequence"] = np.where(is_span, NONE, words[:, event_rows.SEQUENCE])
        for name, column in (
            ("sm", event_rows.SM), ("kind", event_rows.KIND), ("slot", event_rows.SLOT), ("unit", event_rows.UNIT),
            ("pc", event_rows.PC), ("value", event_rows.VALUE),
        ):  # fmt: skip
            events[name] = words[:, column]
        return events[np.lexsort((events["sm"], events["cycle"]))]

    def _open_spans(self, core: Any, cycles: int) -> Array:
        """Rows of what lasts until the end of the run."""
        m = core.machine
        sms, slots = int(m[machine.SMS]), int(m[machine.SLOTS])
        is_open = (core.lasting[:, SINCE] < min(cycles, self.end)) & (self.begin < cycles)
        spans = np.flatnonzero(is_open)
        of_slot = spans < sms * slots
        resources = max(1, (len(core.lasting) - sms * slots) // sms)
        resource = spans - sms * slots
        made = np.zeros((len(spans), event_rows.WORDS), np.int64)
        made[:, event_rows.KIND] = np.where(of_slot, Kind.STATE, Kind.RESOURCE)
        made[:, event_rows.SM] = np.where(of_slot, spans // slots, resource // resources)
        made[:, event_rows.SLOT] = np.where(of_slot, spans % slots, NONE)
        made[:, event_rows.UNIT] = np.where(of_slot, core.lasting[spans, IS], resource % resources)
        made[:, event_rows.PC] = NONE
        made[:, event_rows.SEQUENCE] = cycles - core.lasting[spans, SINCE]
        made[:, event_rows.CYCLE] = core.lasting[spans, SINCE]
        made[:, event_rows.VALUE] = core.lasting[spans, IS]
        return made
