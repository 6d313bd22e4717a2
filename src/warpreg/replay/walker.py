"""Drives a core over the chunks of a path or a schedule and keeps what it counts."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.plan import Plan, details
from warpreg.designs.interface.program import REPLAY_SLOTS, Program, operand_rows
from warpreg.designs.interface.state import Extent, Field, allocate
from warpreg.jit.options import Mode
from warpreg.replay import path_core, schedule_core
from warpreg.replay.diagnostics import typical_arguments
from warpreg.replay.distinct_warps import weighted
from warpreg.replay.errors import ReplayError
from warpreg.replay.hooked_core import Core, Recipe, compiled_core, interpreted_core
from warpreg.replay.warp_streams import WarpStreams
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import Schedule, Slots

Chunk = NDArray[np.uint32]


class Counters:
    """What a walk counts.

    ``visits`` int64[blocks] are block visits; ``accesses`` int64[levels, 2, 2], ``moves`` int64[levels, levels] and
    ``events`` int64[events] are what hooks planned.
    """

    def __init__(self, program: Program, levels: int, events: int) -> None:
        self.visits = np.zeros(program.first_pc.size - 1, np.int64)
        self.accesses = np.zeros((levels, 2, 2), np.int64)
        self.moves = np.zeros((levels, levels), np.int64)
        self.events = np.zeros(events, np.int64)
        self.details = details(*operand_rows(program), 0, 0, 0)

    @property
    def counted(self) -> tuple[NDArray[np.int64], ...]:
        """The arrays that hold counts."""
        return self.visits, self.accesses, self.moves, self.events

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As cores take them."""
        return self.visits, self.accesses.reshape(-1), self.moves, self.events, *self.details


class Behaviour:
    """A design's program, hooks and state, ready to be put into a core."""

    def __init__(
        self, program: Program, hooks: Mapping[str, FunctionType], state: tuple[Any, ...], name: str, mode: Mode
    ) -> None:
        self.program = program
        self.hooks = {hook: hooks[hook] for hook in path_core.HOOKS if hook in hooks}
        self.mode = mode
        self._name = name
        self._state = state

    def hooked(self, hooks: Mapping[str, FunctionType], mode: Mode | None = None) -> Behaviour:
        """The same with other hooks, in another mode if one is given."""
        return Behaviour(self.program, hooks, self._state, self._name, mode or self.mode)

    def allocate(self, extent: Extent) -> tuple[Field, ...]:
        """Fresh fields of the state."""
        return allocate(self._name, self._state, extent)

    def arguments(self, fields: tuple[Field, ...]) -> tuple[Any, ...]:
        """Program columns and state, as cores take them after their fixed arguments."""
        columns = [np.require(c, requirements=("C", "W")) if isinstance(c, np.ndarray) else c for c in self.program]
        resets = (array for field in fields for array in field.reset)
        return (*columns, *(field.value for field in fields), *resets)

    def core(self, text: str, fields: tuple[Field, ...], arguments: tuple[Any, ...], counters: Counters) -> Core:
        """The core for arguments of these types, but for the chunk of words that comes first."""
        recipe = Recipe(text, self.hooks, type(self._state) if fields else None, self.mode == "checked")
        if self.mode == "interpreted":
            return interpreted_core(recipe)
        typical = self._hook_arguments(fields, counters)
        return compiled_core(recipe, (np.zeros(0, np.uint32), *arguments), typical)

    def _hook_arguments(self, fields: tuple[Field, ...], counters: Counters) -> dict[str, tuple[Any, ...]]:
        """For each hook values of the types that the core passes."""
        kind: Any = type(self._state)
        whole = kind(*(field.value for field in fields)) if fields else 0
        mask, datapath = cast(int, np.uint32(0)), cast(int, np.uint8(0))
        scalars = (mask, datapath, 0, 0, 0, 0, 0, 0, 0, 0)
        plan = Plan._make((*counters.arguments[1:4], *scalars, *counters.details, 0, 0, 0, 0))
        return typical_arguments({"state": whole, "program": self.program, "plan": plan})


class PathWalker:
    """A replay in the order of the path, warps one by one inside a thread block; ``suspends`` as in `core_text`."""

    def __init__(self, behaviour: Behaviour, counters: Counters, *, suspends: bool = False) -> None:
        self.counters = counters
        self._progress = np.zeros(path_core.PROGRESS, np.int64)
        fields = behaviour.allocate(Extent(REPLAY_SLOTS))
        warps = np.zeros(REPLAY_SLOTS, np.uint32), np.zeros(REPLAY_SLOTS, np.uint8)
        self._arguments = (self._progress, *warps, *counters.arguments, *behaviour.arguments(fields))
        names, rows = _names(fields)
        text = path_core.core_text(names, rows, sorted(behaviour.hooks), suspends=suspends)
        self._walk = behaviour.core(text, fields, self._arguments, counters)

    def feed(self, chunk: Chunk) -> None:
        """Replay one chunk.  Raises ReplayError for words that are no path of this kernel."""
        status = self._walk(np.ascontiguousarray(chunk, np.uint32), *self._arguments)
        if status != path_core.OK:
            position = int(self._progress[path_core.POSITION])
            raise ReplayError(path_core.refusal(status, chunk, position, self.counters.visits.size))

    def walk(self, path: RecordedPath) -> None:
        """Replay a whole path, and end its last thread block."""
        for times, chunks in weighted(path):
            before = [np.copy(counts) for counts in self.counters.counted]
            for chunk in chunks:
                self.feed(chunk)
            self.feed(np.array([3, 0], np.uint32))
            for counts, earlier in zip(self.counters.counted, before, strict=True):
                counts += (times - 1) * (counts - earlier)


class ScheduleWalker:
    """A replay in the order of recorded schedules, all of machines with the same slots."""

    def __init__(self, behaviour: Behaviour, counters: Counters, slots: Slots) -> None:
        self.counters = counters
        self._behaviour = behaviour
        self._slots = slots
        warps = slots.total_warps
        extent = Extent.of_sms(slots.sms, slots.warps, slots.schedulers)
        self._fields = behaviour.allocate(extent)
        self._fresh = [np.copy(field.value) for field in self._fields]
        self._progress = np.zeros(schedule_core.PROGRESS, np.int64)
        self._machine = np.array([slots.sms, slots.warps, slots.schedulers], np.int64)
        self._row_of = np.full(warps, -1, np.int64)
        longs = (np.zeros(warps, np.int64) for _ in range(4))
        self._per_slot = (self._row_of, *longs, np.zeros(warps, np.uint32), np.zeros(warps, np.uint8))
        self._rest = (*self._per_slot, *counters.arguments, *behaviour.arguments(self._fields))
        names, rows = _names(self._fields)
        switches = {field.name: field.value for field in self._fields if isinstance(field.value, bool)}
        text = schedule_core.scheduled_core_text(names, rows, sorted(behaviour.hooks), switches)
        empty = WarpStreams((), counters.visits.size, behaviour.mode)
        self._walk = behaviour.core(text, self._fields, self._arguments(empty), counters)

    def walk(self, path: RecordedPath, schedule: Schedule) -> None:
        """Replay one launch.  Raises ReplayError where path and schedule do not fit each other."""
        streams = WarpStreams(path.path_chunks(), self.counters.visits.size, self._behaviour.mode)
        for field, fresh in zip(self._fields, self._fresh, strict=True):
            if isinstance(field.value, np.ndarray):
                field.value[...] = fresh
        self._progress[schedule_core.SM] = 0
        for chunk in schedule.chunks():
            self._progress[schedule_core.POSITION] = 0
            self._feed(np.ascontiguousarray(chunk, np.uint32), streams)
        running = np.flatnonzero(self._row_of >= 0)
        if running.size:
            self._row_of[:] = -1
            sm, slot = divmod(int(running[0]), self._slots.warps)
            raise ReplayError(f"the schedule stops before the warp in slot {slot} of SM {sm} has ended")

    def _feed(self, chunk: Chunk, streams: WarpStreams) -> None:
        while True:
            status = self._walk(chunk, *self._arguments(streams))
            if status == schedule_core.OK:
                return
            sm, position = self._progress.tolist()
            if status == schedule_core.NEEDS_THREAD_BLOCK and streams.load(int(chunk[position + 1])):
                continue
            raise ReplayError(schedule_core.refusal(status, chunk, sm, position, self._slots))

    def _arguments(self, streams: WarpStreams) -> tuple[Any, ...]:
        stream = (getattr(streams, name) for name in schedule_core.STREAM)
        return (self._progress, self._machine, *stream, *self._rest)


def _names(fields: tuple[Field, ...]) -> tuple[list[str], list[str]]:
    """Names of all fields, and of those that a fresh warp starts with a row of."""
    return [field.name for field in fields], [field.name for field in fields if field.reset]
