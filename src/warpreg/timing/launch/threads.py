"""Threads that step the SMs of one core together: the clock and the operations of each, and how they are run."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from warpreg.timing.core.columns import clock, machine, team
from warpreg.timing.core.rows import op_index
from warpreg.timing.core.state import Core
from warpreg.timing.core.status import DONE, NEEDS_BLOCKS, NEEDS_ROOM, OVERFLOWED, STOPPED, STUCK
from warpreg.timing.core.typed import NEVER, OpRow, Row, TeamRow, array_of
from warpreg.timing.core.whole_columns import WholeColumns, ops_of
from warpreg.timing.launch.allocate import more_rows
from warpreg.timing.sm.team import SHORTEST_WINDOW

SHARED = tuple(map(int, (clock.LOADED_BLOCKS, clock.FIRST_LOADED, clock.TOTAL_BLOCKS, clock.STARTS)))
"""Columns of the clock that are set between two calls of the core, for all threads."""
LATEST = tuple(map(int, (clock.LAST_PROGRESS, clock.LAST_LEFT)))
"""Columns whose value of a run is the largest of all threads."""
SUMMED = (int(clock.ENDED_BLOCKS), int(clock.STEPS_TAKEN), *range(clock.FIRST_COUNTER, clock.AFTER_SUMS))
"""Columns whose value of a run is the sum over all threads."""
FIRST_TO_TELL = (OVERFLOWED, STUCK, NEEDS_ROOM, NEEDS_BLOCKS, DONE)
"""Of the reasons of several threads to stop, the one that counts."""
INSTRUCTIONS_OF_THREAD = 25_000
"""Warp-instructions of a launch for which another thread is started, at least: a few milliseconds, where a start takes
one (docs/explanation/performance.md).
"""
SPARE_LOAD = 0.5
"""By how much the load of a host that is not busy may exceed its processors.  Chosen, not measured: a load of one more
is a process that takes a processor from a thread that others wait for.
"""

Entry = Callable[..., int]


def available_threads() -> int:
    """The processors that this process may use; 1 in a worker process, beside which others run, and on a busy host:
    threads that meet often are slower than one if each of them must wait for a processor.
    """
    processors = os.cpu_count() or 1
    if multiprocessing.parent_process() or os.getloadavg()[0] > processors + SPARE_LOAD:
        return 1
    return len(os.sched_getaffinity(0))


class Threads:
    """``cores``: the arrays of one core as each of ``count`` threads sees it, the leader first.

    The first ``busy`` SMs are distributed evenly, the others belong to the last thread.  ``seconds`` is the time in the
    core.
    """

    def __init__(self, core: Core, count: int, busy: int) -> None:
        own, room = array_of(core.clock), int(core.clock[clock.FREE_OPS]) // count
        own[clock.FREE_OPS], own[clock.MEMBERS] = room, count
        self.cores = [core._replace(clock=cast(Any, own if member == 0 else own.copy())) for member in range(count)]
        self._fresh = [(member * room, (member + 1) * room) for member in range(count)]
        self._full: list[tuple[int, int]] = []
        self.seconds = 0.0
        sm_count = int(core.machine[machine.SMS])
        firsts = [busy * member // count for member in range(count)] + [sm_count]
        words = WholeColumns[TeamRow](array_of(core.team))
        words[team.FIRST_SM][1:] = words[team.NEXT_FIRST_SM][1:] = firsts
        for member, one in enumerate(self.cores):
            one.clock[clock.MEMBER] = member
            one.clock[clock.FRESH_OP] = _row(core, self._fresh[member][0])
        core.team[team.COMMON, team.WINDOW] = SHORTEST_WINDOW

    @property
    def core(self) -> Core:
        """The arrays of the core as the leader sees it."""
        return self.cores[0]

    @core.setter
    def core(self, changed: Core) -> None:
        """Take over arrays and the shared columns of the leader's clock."""
        self.cores = [changed._replace(clock=one.clock) for one in self.cores]
        for one in self.cores[1:]:
            array_of(one.clock)[list(SHARED)] = array_of(changed.clock)[list(SHARED)]

    @property
    def operations(self) -> list[tuple[int, int]]:
        """The indices of the operations that may be in use: first ones, and those after the last ones."""
        fresh = zip(self._fresh, self.cores, strict=True)
        return self._full + [(begin, int(op_index(one, one.clock[clock.FRESH_OP]))) for (begin, _), one in fresh]

    def run(self, entry: Entry, arguments: Sequence[tuple[Any, ...]]) -> int:
        """Step the SMs until the core stops; ``arguments`` of the entry point by thread.  Returns why it stopped."""
        words = WholeColumns[TeamRow](array_of(self.core.team))
        for column in (team.ARRIVED, team.BOUND, team.MEETINGS, team.STOP):
            words[column] = 0
        words[team.AWAITS] = NEVER
        for one in self.cores:
            one.clock[clock.MEETINGS] = 0
        begin = time.perf_counter()
        found = _side_by_side([(entry, given) for given in arguments], array_of(self.core.team))
        self.seconds += time.perf_counter() - begin
        self.core.clock[clock.NEXT_BLOCK] = self.core.team[team.COMMON, team.NEXT_BLOCK]
        return next(status for status in FIRST_TO_TELL if status in found)

    def more_room(self) -> None:
        """Give threads that need it at least twice as many further operations as all have."""
        before = len(ops_of(self.core).rows)
        used = max(end for _, end in self.operations)
        least = int(self.core.clock[clock.MIN_OPS])
        needy = [member for member, one in enumerate(self.cores) if one.clock[clock.FREE_OPS] < least]
        more = 2 * max(before, least)
        self.core = more_rows(self.core, more * len(needy), before if len(self.cores) > 1 else used)
        for number, member in enumerate(needy):
            own, begin = self.cores[member].clock, before + number * more
            own[clock.FREE_OPS] += more
            (start, end), fresh = self._fresh[member], int(op_index(self.core, own[clock.FRESH_OP]))
            if end != begin:
                own[clock.FREE_OPS] -= end - fresh
                own[clock.FRESH_OP] = _row(self.core, begin)
                self._full.append((start, fresh))
                start = begin
            self._fresh[member] = start, begin + more

    def gather(self) -> None:
        """At the end, bring the counts of all threads into the clock of the leader."""
        if len(self.cores) == 1:
            return
        clocks = np.array([array_of(one.clock) for one in self.cores])
        own = array_of(self.core.clock)
        own[list(SUMMED)] = clocks[:, SUMMED].sum(axis=0)
        own[list(LATEST)] = clocks[:, LATEST].max(axis=0)

    @property
    def ended_blocks(self) -> int:
        """Thread blocks that have ended; before `gather`."""
        return sum(int(one.clock[clock.ENDED_BLOCKS]) for one in self.cores)

    @property
    def refusals(self) -> int:
        """How often ``admit`` has refused since the last issue of each thread."""
        return sum(
            int(one.clock[clock.REFUSED])
            for one in self.cores
            if one.clock[clock.REFUSED_SINCE] == one.clock[clock.LAST_PROGRESS]
        )

    @property
    def overflow(self) -> int:
        """What hooks did wrong, as in the clock."""
        return next((int(one.clock[clock.OVERFLOW]) for one in self.cores if one.clock[clock.OVERFLOW]), 0)


def _row(core: Core, index: int) -> OpRow:
    return OpRow(Row(int(core.machine[machine.FIRST_OP] + index * core.machine[machine.OP_ROW])))


def _side_by_side(calls: Sequence[tuple[Entry, tuple[Any, ...]]], shared: Any) -> set[int]:
    """The results of all calls, the first one made by this thread.  An error in one of them stops the others."""
    results: list[int] = []
    errors: list[BaseException] = []

    def made(entry: Entry, given: tuple[Any, ...]) -> None:
        try:
            results.append(int(entry(*given)))
        except BaseException as error:
            errors.append(error)
            shared[0, team.STOP] = 1

    others = [threading.Thread(target=made, args=call, daemon=True) for call in calls[1:]]
    try:
        for one in others:
            one.start()
    except BaseException:
        shared[0, team.STOP] = 1
        raise
    made(*calls[0])
    for one in others:
        one.join()
    if errors:
        raise errors[0]
    return set(results) - {STOPPED}
