"""Run a core over the chunks of a path or a schedule, and keep its counts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.options import Mode
from piecewise_numba.recipe import CompileError, Entry, Recipe, read_only
from piecewise_numba.records import with_constants
from warpreg.counting import status
from warpreg.counting.added_code import NO_FIT, Fit
from warpreg.counting.diagnostics import brief, check_return_types, culprit, typical_arguments
from warpreg.counting.distinct_warps import DistinctPart, DistinctWarps, weighted
from warpreg.counting.errors import ReplayError
from warpreg.designs.checking.running import Limits, watched
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.accounts import unplanned
from warpreg.designs.interface.own_hints import writable
from warpreg.designs.interface.plan import EXTRAS, MAX_REQUESTS, NO_PATHS, REFUSED, blank_plan, counting_plan
from warpreg.designs.interface.program import REPLAY_SLOTS, Program, operand_rows
from warpreg.designs.interface.state import (
    Extent,
    Field,
    allocate,
    allocated_state,
    reset_rows,
    resets_of,
    resetting,
)
from warpreg.designs.interface.thread_blocks import NO_BLOCK, knows_thread_blocks, with_slots
from warpreg.designs.loading.fetch import wrong_slices
from warpreg.ir.kernel import Kernel
from warpreg.replay import hook_calls, late_results, path_core, schedule_core
from warpreg.replay.warp_streams import WarpStreams
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import Schedule, Slots
from warpreg.trace.widths import Places, WidthReader, places

Chunk = NDArray[np.uint32]
THE_END = np.array([path_core.THREAD_BLOCK, 0], np.uint32)
ANY_CHUNK = read_only(np.zeros(0, np.uint32))


NO_WIDTHS = np.zeros(0, np.uint8)


class Counters:
    """Counts of a walk.

    ``visits`` int64[blocks] are block visits.  ``accesses`` and ``spared`` int64[levels, 2, 2], ``moves`` int64[levels,
    levels], ``events`` int64[events], ``tables`` int64[tables, 3] and ``traffic`` int64[2, 2] are the counts of the
    ``blank`` plan.
    """

    def __init__(
        self,
        program: Program,
        levels: int,
        events: int,
        tables: int = 0,
        paths: NDArray[np.int64] = NO_PATHS,
        queue: int = 0,
    ) -> None:
        self.visits = np.zeros(program.first_pc.size - 1, np.int64)
        self.blank = blank_plan(levels, events, *operand_rows(program), queue=queue, tables=tables, paths=paths)
        self.accesses, self.spared = (one.reshape(levels, 2, 2) for one in (self.blank.accesses, self.blank.spared))
        self.moves, self.events, self.tables = self.blank.moves, self.blank.events, self.blank.tables
        self.traffic = self.blank.traffic

    def like(self, program: Program) -> Counters:
        """Fresh ones of the same sizes."""
        return Counters(
            program, len(self.moves), self.events.size, len(self.tables), self.blank.paths, len(self.blank.extras)
        )

    @property
    def counted(self) -> tuple[NDArray[np.int64], ...]:
        """The arrays of counts."""
        return (self.visits, *self.planned)

    @property
    def planned(self) -> tuple[NDArray[np.int64], ...]:
        """Those of the plan."""
        return self.accesses, self.spared, self.moves, self.events, self.tables, self.traffic


class Widths:
    """Where the widths of a kernel are found that a design has made of the ``recorded`` one: among those that a run
    records, and ``of_rows``, among those of distinct warps; with ``patterns`` if the design reads those.
    """

    def __init__(self, recorded: Kernel, running: Kernel, patterns: bool = False) -> None:
        self.patterns = patterns
        self.recorded: Places = places(recorded, running)
        self.of_rows: Places = places(recorded, running, all_rows=True)


class Behaviour:
    """Program, hooks and state of a design, from which a core is built; ``widths`` if it reads widths."""

    def __init__(
        self,
        program: Program,
        hooks: Mapping[str, FunctionType],
        state: tuple[Any, ...],
        name: str,
        mode: Mode,
        widths: Widths | None = None,
        slices: int = 1,
        main: int = 1,
    ) -> None:
        self.widths = widths
        self.program = writable(program)
        self.hooks = {hook: hooks[hook] for hook in hook_calls.HOOKS if hook in hooks}
        self.mode = mode
        self._slices = slices
        self._main = main
        self._name = name
        self._state = state

    def hooked(self, hooks: Mapping[str, FunctionType], mode: Mode | None = None) -> Behaviour:
        """The same with other hooks, and in another mode if given."""
        own = self.widths, self._slices, self._main
        return Behaviour(self.program, hooks, self._state, self._name, mode or self.mode, *own)

    def reader(self, path: RecordedPath) -> WidthReader | None:
        """Reader of the widths along a path, None if the design needs none."""
        if self.widths is None:
            return None
        found = self.widths.of_rows if isinstance(path, DistinctPart) else self.widths.recorded
        return WidthReader(path, found, f"design {self._name}", self.mode, self.widths.patterns)

    def check(self, counters: Counters, kernel: Kernel | None = None) -> None:
        """Raises DesignError if a hook has named slices that banks do not have, or left an operand of the ``kernel``
        unplanned.
        """
        if counters.blank.queued[REFUSED] != 0:
            raise wrong_slices(self._name, self._slices, int(counters.blank.queued[REFUSED]))
        if counters.blank.queued[EXTRAS] > MAX_REQUESTS:
            raise DesignError(
                f"{self._name}: one call of a hook starts more than {MAX_REQUESTS} transfers, with those that follow "
                "from them in transferred"
            )
        if wrong := unplanned(counters.blank.planned, self.hooks, self.program, kernel):
            raise wrong

    def watched(self, extent: Extent) -> AbstractContextManager[None]:
        """What the core runs in: a check that fails in a hook becomes a DesignError."""
        slots = extent.warps // max(1, extent.sms)
        registers = self.program.register_count
        return watched(self.hooks, Limits(slices=self._slices, registers=registers, warps=extent.warps, slots=slots))

    def allocate(self, extent: Extent) -> tuple[Field, ...]:
        """Fresh fields of the state."""
        return allocate(self._name, self._state, extent)

    def state(self, fields: tuple[Field, ...]) -> Any:
        """The state as hooks see it."""
        return allocated_state(self._state, fields)

    def core(
        self,
        walk: Function,
        fields: tuple[Field, ...],
        arguments: tuple[Any, ...],
        counters: Counters,
        replaced: Mapping[Function, Function],
    ) -> Entry:
        """The core ``walk`` with the hooks, for arguments of these types after the first one, the chunk of words.

        Raises DesignError with the author's file and line if a hook is outside the numba subset or its types do not
        match.
        """
        bound: dict[Any, Function] = {**hook_calls.bindings(self.hooks), reset_rows: resetting(fields), **replaced}
        if self._slices > 1:
            bound[hook_calls.bank_slices] = hook_calls.constant(self._slices)
        if self._main > 1:
            bound[hook_calls.main_levels] = hook_calls.constant(self._main)
        if self.mode == "interpreted":
            bound[hook_calls.accounts] = hook_calls.constant(1)

        def check(compiled: Mapping[str, Any]) -> None:
            check_return_types(self.hooks, compiled)

        try:
            recipe = Recipe(walk, bound, self.hooks, check, self.mode, selects=True)
            return recipe.build((ANY_CHUNK, *arguments))
        except CompileError as error:
            wrong = culprit(self.hooks, error.hooks, self._hook_arguments(fields, counters))
            raise DesignError(wrong or f"the replay core does not compile: {brief(error.error)}") from error

    def _hook_arguments(self, fields: tuple[Field, ...], counters: Counters) -> dict[str, tuple[Any, ...]]:
        """For each hook, values of the types that the core passes."""
        mask, datapath = cast(int, np.uint32(0)), cast(int, np.uint8(0))
        plan = counting_plan(counters.blank, self._slices, self._main, mask, datapath, 0, 0, 0, 0)
        return typical_arguments({"state": self.state(fields), "program": self.program, "plan": plan})


class PathWalker:
    """Replay in the order of the path, warp by warp inside a thread block.

    With ``suspends``, warps leave the active set at instructions with the ``suspends`` flag.
    """

    def __init__(self, behaviour: Behaviour, counters: Counters, *, suspends: bool = False) -> None:
        self.counters = counters
        self._progress = np.zeros(path_core.PROGRESS, np.int64)
        fields = behaviour.allocate(Extent(REPLAY_SLOTS))
        warps = path_core.Warps(np.zeros(REPLAY_SLOTS, np.uint32), np.zeros(REPLAY_SLOTS, np.uint8))
        given = with_slots(behaviour.program, REPLAY_SLOTS), behaviour.state(fields), resets_of(fields)
        self._behaviour = behaviour
        self._arguments = (self._progress, warps, counters.visits, *given)
        replaced: dict[Function, Function] = {path_core.is_suspending: path_core.suspends} if suspends else {}
        self._knows_blocks = knows_thread_blocks(behaviour.hooks)
        if self._knows_blocks:
            replaced |= path_core.THREAD_BLOCKS
        if behaviour.widths is not None:
            replaced[path_core.begin_widths] = path_core.take_widths
        self._walk = behaviour.core(path_core.walk, fields, (*self._arguments, counters.blank), counters, replaced)

    def feed(self, chunk: Chunk, widths: NDArray[np.uint8] = NO_WIDTHS) -> None:
        """Replay one chunk with the ``widths`` of its results.  Raises ReplayError for words that are no path of this
        kernel.
        """
        self._progress[path_core.WIDTHS] = 0
        blank = self.counters.blank._replace(widths=widths)
        with self._behaviour.watched(Extent(REPLAY_SLOTS)):
            stopped = self._walk(np.ascontiguousarray(chunk, np.uint32), *self._arguments, blank)
        if stopped != status.OK:
            position = int(self._progress[path_core.POSITION])
            raise ReplayError(status.path_refusal(stopped, chunk, position, self.counters.visits.size))

    def walk(self, path: RecordedPath) -> None:
        """Replay a whole path, and end its last thread block."""
        if self._knows_blocks and isinstance(path, DistinctWarps):
            raise ReplayError("the design asks for thread blocks, so it needs the path of each warp, not distinct ones")
        for times, part in weighted(path):
            before = [np.copy(counts) for counts in self.counters.counted]
            reader = self._behaviour.reader(part)
            for chunk in part.path_chunks():
                self.feed(chunk, NO_WIDTHS if reader is None else reader.of(chunk))
            self.feed(THE_END)
            if reader is not None:
                reader.finish()
            for counts, earlier in zip(self.counters.counted, before, strict=True):
                counts += (times - 1) * (counts - earlier)


class ScheduleWalker:
    """Replay in the order of recorded schedules, all of machines with the same slots."""

    def __init__(self, behaviour: Behaviour, counters: Counters, slots: Slots, fit: Fit = NO_FIT) -> None:
        """``fit``: which instructions the schedules do not know."""
        self.counters = counters
        self._behaviour = behaviour
        self._slots = slots
        warps = slots.total_warps
        self._extent = Extent.of_sms(slots.sms, slots.warps, slots.schedulers)
        self._fields = behaviour.allocate(self._extent)
        written = [field.value for field in self._fields if isinstance(field.value, np.ndarray)]
        self._fresh = [(value, value.copy()) for value in written if value.flags.writeable]
        self._progress = np.zeros(schedule_core.PROGRESS, np.int64)
        machine = np.array([slots.sms, slots.warps], np.int64)
        self._rows = np.full(warps, schedule_core.FREE, np.int64)
        planned = behaviour.hooks.keys() >= {"plan_write", "produced"}
        kept = planned or behaviour.widths is not None
        late = late_results.new(behaviour.program, counters.blank, warps, kept, planned)
        longs: Any = (np.zeros(warps, np.int64) for _ in range(4))
        flags: Any = np.zeros(warps, np.uint32), np.zeros(warps, np.uint8)
        per_slot = schedule_core.Warps(*(self._rows, *longs, *flags, *fit))
        self._before = self._progress, machine
        self._program = with_slots(behaviour.program, warps)
        given = self._program, behaviour.state(self._fields), resets_of(self._fields)
        self._after = (per_slot, late, counters.visits, *given)
        switches = tuple((field.name, field.value) for field in self._fields if isinstance(field.value, bool))
        replaced = {schedule_core.as_compiled: with_constants(switches)} if switches else {}
        replaced |= late_results.KEPT if kept else {}
        if knows_thread_blocks(behaviour.hooks):
            replaced |= schedule_core.THREAD_BLOCKS
        if fit.added.any():
            replaced |= schedule_core.ADDED
        empty = WarpStreams((), counters.visits.size, behaviour.mode)
        arguments = self._arguments(empty)
        self._walk = behaviour.core(schedule_core.walk, self._fields, arguments, counters, replaced)

    def walk(self, path: RecordedPath, schedule: Schedule) -> None:
        """Replay one launch.  Raises ReplayError if path and schedule do not match."""
        reader = self._behaviour.reader(path)
        streams = WarpStreams(path.path_chunks(), self.counters.visits.size, self._behaviour.mode, reader)
        for value, fresh in self._fresh:
            value[...] = fresh
        self._program.block_of_slot.fill(NO_BLOCK)
        self._progress[schedule_core.SM] = 0
        for chunk in schedule.chunks():
            self._progress[schedule_core.POSITION] = 0
            self._feed(np.ascontiguousarray(chunk, np.uint32), streams)
        running = np.flatnonzero(self._rows >= 0)
        if running.size:
            self._rows[:] = schedule_core.FREE
            sm, slot = divmod(int(running[0]), self._slots.warps)
            raise ReplayError(f"the schedule stops before the warp in slot {slot} of SM {sm} has ended")

    def _feed(self, chunk: Chunk, streams: WarpStreams) -> None:
        while True:
            with self._behaviour.watched(self._extent):
                stopped = self._walk(chunk, *self._arguments(streams))
            if stopped == status.OK:
                return
            sm, position = self._progress.tolist()
            if stopped == status.NEEDS_THREAD_BLOCK and streams.load(int(chunk[position + 1])):
                continue
            raise ReplayError(status.schedule_refusal(stopped, chunk, sm, position, self._slots))

    def _arguments(self, streams: WarpStreams) -> tuple[Any, ...]:
        return (*self._before, streams.arrays, *self._after, self.counters.blank._replace(widths=streams.widths))
