"""Run the core over the thread blocks of one kernel launch: allocate, feed, enlarge, and stop at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from piecewise_numba.options import Mode
from warpreg.designs.interface.hooks import authors_of_hook, place
from warpreg.designs.interface.plan import MAX_REQUESTS
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.work_observer import Work, is_observed, reached
from warpreg.timing.core.columns import blocks, clock, machine, sms, warps
from warpreg.timing.core.state import Core
from warpreg.timing.core.status import DONE, NEEDS_BLOCKS, NEEDS_ROOM, OVERFLOWED
from warpreg.timing.core.typed import NEVER, NONE, WarpRow
from warpreg.timing.core.whole_columns import WholeColumns, sms_of, warps_of
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.feed.kernel_table import suspending
from warpreg.timing.launch import allocate
from warpreg.timing.launch.binding import EntryArguments
from warpreg.timing.launch.deadlock import WaitingWarp, endless, no_progress
from warpreg.timing.launch.load_blocks import LoadBatch, more_blocks
from warpreg.timing.launch.threads import Threads
from warpreg.timing.launch.unfinished_loads import held_loads, never_completed
from warpreg.timing.memory.late_bursts import drop_after

ROOM_FOR_HOOKS = 4 * MAX_REQUESTS
"""Entries of the pool that the hooks of an SM may allocate per cycle."""
FEED_WORDS = 1 << 20
"""Minimum size of the visits and records per request to the feed, which are kept beside those of resident blocks; a
smaller one makes threads stop more often (docs/explanation/performance.md).
"""


class Engine:
    """One launch: call ``run``, then read ``core``."""

    def __init__(
        self,
        kernel: Kernel,
        gpu: Machine,
        blocks: Iterable[ThreadBlocks],
        outside: EntryArguments,
        *,
        resident: int,
        block_warps: int,
        mode: Mode = "compiled",
        every_cycle: bool = False,
        busy: int | None = None,
        expected: float = 0,
    ) -> None:
        """``resident`` thread blocks fit an SM; ``busy``: thread blocks, if known, as SMs beyond these have nothing to
        do; ``expected``: warp-instructions, for progress.
        """
        self.kernel = kernel
        self._busy, self._expected = busy, expected
        sm_count = len(outside.system.sms)
        core = allocate.new_core(
            gpu,
            sm_count,
            resident,
            block_warps,
            NEVER,
            suspending(kernel, gpu, outside.program.suspends),
            outside.shares,
            outside.collectors_of_a_slot,
            outside.behaviour.banks.added,
            outside.behaviour.stages,
            outside.threads,
        )
        core.machine[machine.EVERY_CYCLE] = every_cycle
        core.machine[machine.IN_STEP] = outside.behaviour.in_step
        if outside.has_design:
            core.clock[clock.MIN_OPS] += ROOM_FOR_HOOKS
        core = outside.prepared(core)
        self._threads = Threads(core, outside.threads, sm_count if busy is None else min(busy, sm_count))
        if outside.has_design:
            self._threads.more_room()
        self._outside = outside
        self._blocks: Iterator[ThreadBlocks] = iter(blocks)
        self._entry = outside.entry(core, mode)

    @property
    def core(self) -> Core:
        """The arrays of the core; its clock is that of the whole run after `run`."""
        return self._threads.core

    @property
    def seconds(self) -> float:
        """Time in the core so far."""
        return self._threads.seconds

    @property
    def cycles(self) -> int:
        """Cycles from the first one to that in which the last thread block left; 0 without thread blocks."""
        return int(self.core.clock[clock.LAST_LEFT]) + 1 if self.core.clock[clock.ENDED_BLOCKS] else 0

    def run(self) -> None:
        """Run to the end.

        Raises TimingError if no warp can continue, DesignError for slices that the banks do not have, for operands
        that a hook leaves unplanned, and for a warp that ``choose`` may not choose.
        """
        self._feed()
        while self.core.clock[clock.TOTAL_BLOCKS] > 0:
            with self._outside.watched():
                status = self._threads.run(self._entry, list(self._arguments()))
            if is_observed():
                reached(self._work)
            if status == NEEDS_BLOCKS:
                self._feed()
            elif status == NEEDS_ROOM:
                self._threads.more_room()
            elif status == DONE:
                break
            elif status == OVERFLOWED:
                raise self._refusal()
            else:
                raise self._stuck()
        self._threads.gather()
        drop_after(self._outside.system, int(self.core.clock[clock.LAST_LEFT]))
        self._outside.gather()
        self._outside.check(self.kernel)

    @property
    def _work(self) -> Work:
        """What is done so far."""
        issued = int(sms_of(self.core)[sms.SEQ].sum())
        place = "" if self._busy is None else f"thread block {self._threads.ended_blocks:,} of {self._busy:,}"
        return Work(issued, self._expected, "warp-instructions", place)

    def _arguments(self) -> Iterator[tuple[Any, ...]]:
        """The arguments of the entry point, by thread."""
        for member, core in enumerate(self._threads.cores):
            yield core, *self._outside.arguments(core, member)

    def _refusal(self) -> WarpregError:
        """The error for what hooks did wrong."""
        if wrong := self._outside.mischosen:
            return wrong
        design, found = self._outside.behaviour.name, self._threads.overflow
        if found < 0:
            return TimingError(f"design {design}: complete names load {-1 - found}, which load_lookup does not hold")
        return TimingError(
            f"design {design}: hooks asked for more than the core has room for: more than {MAX_REQUESTS} extra "
            f"accesses, transfers, tokens, completed loads or memory accesses in one call, or too much in one cycle"
        )

    def _feed(self) -> None:
        """Load more thread blocks; after the last one, set their total number."""
        least = 2 * int(self.core.machine[machine.SMS])
        batches = LoadBatch()
        while batches.count < least or batches.size < FEED_WORDS:
            batch = next(self._blocks, None)
            if batch is None:
                self.core.clock[clock.TOTAL_BLOCKS] = int(self.core.clock[clock.LOADED_BLOCKS]) + batches.count
                break
            batches.add(batch)
        self._threads.core = more_blocks(self.core, batches, self._threads.operations) if batches.count else self.core

    def _stuck(self) -> TimingError:
        """An error that names the warps that cannot continue: those that wait for tokens, else all."""
        slots = warps_of(self.core)
        present = np.flatnonzero(slots[warps.PRESENT]).tolist()
        waiting = [
            self._waiting(slots, one)
            for one in present
            if slots[warps.STOP][one] == warps.AT_TOKEN and slots[warps.TOKEN][one] != NONE
        ]
        cycle = int(sms_of(self.core)[sms.STEPPED].max())
        if held := held_loads(self.core):
            return never_completed(self.kernel, self._outside.behaviour.name, cycle, held)
        if waiting:
            at_barriers = sum(int(slots[warps.STOP][one]) == warps.AT_BARRIER for one in present)
            return no_progress(self.kernel, self._outside.behaviour.name, cycle, waiting, at_barriers)
        heads = [(one, int(slots[warps.HEAD][one])) for one in present]
        refusals, design = self._threads.refusals, self._outside.behaviour.name
        return endless(self.kernel, design, cycle, heads, self._admit() if refusals else "", refusals)

    def _admit(self) -> str:
        """The hook ``admit``, as messages name it."""
        author = authors_of_hook(self._outside.behaviour.hooks["admit"])[-1]
        return f"admit ({place(author.__code__)})"

    def _waiting(self, slots: WholeColumns[WarpRow], warp: int) -> WaitingWarp:
        """The waiting warp with this warp index."""
        own = slots[warps.BLOCK][warp]
        oldest = slots[warps.AGE][slots[warps.BLOCK] == own].min()
        token = int(slots[warps.TOKEN][warp])
        token = token if token >= 0 else warps.STAYS - token
        owner = self._outside.behaviour.hooks.get("owner")
        holds = -1
        if owner is not None:
            with self._outside.watched():
                holds = int(owner(self._outside.state, self._outside.program, warp, token))
        block = int(self.core.rows[own, blocks.INDEX])
        index, head = int(slots[warps.AGE][warp] - oldest), int(slots[warps.HEAD][warp])
        return WaitingWarp(warp, block, index, head, token, holds)
