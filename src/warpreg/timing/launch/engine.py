"""Drives the core over the thread blocks of one kernel launch: allocates, feeds, gives room, stops at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.jit.options import Mode
from warpreg.timing.core import columns as at
from warpreg.timing.core.columns import Core
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.feed.kernel_table import table
from warpreg.timing.launch import allocate
from warpreg.timing.launch.binding import QUEUE, Outside
from warpreg.timing.launch.deadlock import TOLD, Waiting, no_progress

ROOM_FOR_HOOKS = 4 * QUEUE
"""Entries of the pool that the hooks of an SM may take in a cycle."""
FEED_BLOCKS = 512
"""Thread blocks asked of the feed at a time, at least; memory holds these and the resident ones."""


class Engine:
    """One launch: ``run`` it, then read ``core``."""

    def __init__(
        self,
        kernel: Kernel,
        machine: Machine,
        blocks: Iterable[ThreadBlocks],
        outside: Outside,
        *,
        resident: int,
        block_warps: int,
        mode: Mode = "compiled",
        every_cycle: bool = False,
    ) -> None:
        self.kernel = kernel
        self.core: Core = allocate.new_core(
            machine, len(outside.system.sms), resident, block_warps, at.NEVER, table(kernel, machine)
        )
        self.core.machine[at.EVERY_CYCLE] = every_cycle
        self.core.machine[at.IN_STEP] = outside.in_step
        if outside.has_design:
            self.core.clock[at.LEAST_OPS] += ROOM_FOR_HOOKS
            self.core = allocate.more_room(self.core)
        self._outside = outside
        self._blocks: Iterator[ThreadBlocks] = iter(blocks)
        self._entry = outside.entry(self.core, mode)

    @property
    def cycles(self) -> int:
        """Cycles from the first one to the one in which the last thread block left; 0 without a thread block."""
        return int(self.core.clock[at.LAST_LEFT]) + 1 if self.core.clock[at.ENDED_BLOCKS] else 0

    def run(self) -> None:
        """To the end.  Raises TimingError if nothing can go on."""
        self._feed()
        while self.core.clock[at.TOTAL_BLOCKS] > 0:
            status = self._entry(self.core, *self._outside.arguments())
            if status == at.NEEDS_BLOCKS:
                self._feed()
            elif status == at.NEEDS_ROOM:
                self.core = allocate.more_room(self.core)
            elif status == at.DONE:
                break
            elif status == at.OVERFLOWED:
                raise TimingError(
                    f"design {self._outside.behaviour.name}: hooks asked for more than the core has room for: more "
                    f"than {QUEUE} extra accesses or tokens in one call, or too much in one cycle"
                )
            else:
                raise self._stuck()

    def _feed(self) -> None:
        """More thread blocks; once there are no more, the core is told how many there were."""
        least = max(FEED_BLOCKS, 2 * int(self.core.machine[at.SMS]))
        batches: list[ThreadBlocks] = []
        while sum(batch.count for batch in batches) < least:
            batch = next(self._blocks, None)
            if batch is None:
                loaded = int(self.core.clock[at.LOADED_BLOCKS]) + sum(one.count for one in batches)
                self.core.clock[at.TOTAL_BLOCKS] = loaded
                break
            batches.append(batch)
        if batches:
            self.core = allocate.more_blocks(self.core, batches)

    def _stuck(self) -> TimingError:
        """Which warps cannot go on: those that wait for tokens, else all."""
        rows, m = self.core.table, self.core.machine
        first, last = int(m[at.FIRST_WARP]), int(m[at.FIRST_SCHEDULER])
        present = [warp for warp in range(first, last) if rows[warp, at.PRESENT]]
        waiting = [self._waiting(warp) for warp in present if rows[warp, at.STOP] == at.AT_TOKEN]
        cycle = int(rows[: m[at.SMS], at.STEPPED].max())
        if waiting:
            return no_progress(self.kernel, self._outside.behaviour.name, cycle, waiting)
        places = ", ".join(f"warp {warp - first} at instruction {rows[warp, at.HEAD]}" for warp in present[:TOLD])
        return TimingError(f"kernel {self.kernel.name}: no warp can go on in cycle {cycle}: {places}")

    def _waiting(self, warp: int) -> Waiting:
        rows, first = self.core.table, int(self.core.machine[at.FIRST_WARP])
        row = rows[warp]
        fellows = rows[first : self.core.machine[at.FIRST_SCHEDULER]]
        oldest = fellows[fellows[:, at.BLOCK] == row[at.BLOCK], at.AGE].min()
        owner = self._outside.behaviour.hooks.get("owner")
        holds = -1
        if owner is not None:
            holds = int(owner(self._outside.state, self._outside.program, warp - first, int(row[at.TOKEN])))
        block = int(self.core.rows[row[at.BLOCK], at.BLOCK_INDEX])
        return Waiting(warp - first, block, int(row[at.AGE] - oldest), int(row[at.HEAD]), int(row[at.TOKEN]), holds)
