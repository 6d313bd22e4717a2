"""Drives the core over the thread blocks of one kernel launch: allocates, feeds, gives room, stops at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.replay.compiled import Mode
from warpreg.timing import arrays, at, calls, memory
from warpreg.timing.at import Core
from warpreg.timing.errors import TimingError
from warpreg.timing.feed import ThreadBlocks
from warpreg.timing.memory import Memory
from warpreg.timing.native import CoreRecipe
from warpreg.timing.table import table

FEED_BLOCKS = 512
"""Thread blocks asked of the feed at a time, at least; memory holds these and the resident ones."""


class Engine:
    """One launch: ``run`` it, then read ``core``."""

    def __init__(
        self,
        kernel: Kernel,
        machine: Machine,
        blocks: Iterable[ThreadBlocks],
        system: Memory,
        *,
        resident: int,
        block_warps: int,
        mode: Mode = "compiled",
        every_cycle: bool = False,
    ) -> None:
        self.kernel = kernel
        self.core: Core = arrays.new_core(
            machine, len(system.sms), resident, block_warps, at.NEVER, table(kernel, machine)
        )
        self.core.machine[at.EVERY_CYCLE] = every_cycle
        self._system = system
        self._blocks: Iterator[ThreadBlocks] = iter(blocks)
        recipe = CoreRecipe(memory_calls(system), mode)
        self._entry = recipe.build(self.core, system, 0)

    @property
    def cycles(self) -> int:
        """Cycles from the first one to the one in which the last thread block left; 0 without a thread block."""
        return int(self.core.clock[at.NOW]) + 1 if self.core.clock[at.ENDED_BLOCKS] else 0

    def run(self) -> None:
        """To the end.  Raises TimingError if nothing can go on."""
        self._feed()
        while self.core.clock[at.TOTAL_BLOCKS] > 0:
            status = self._entry(self.core, self._system, 0)
            if status == at.NEEDS_BLOCKS:
                self._feed()
            elif status == at.NEEDS_ROOM:
                self.core = arrays.more_room(self.core)
            elif status == at.DONE:
                break
            else:
                raise TimingError(self._stuck())

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
            self.core = arrays.more_blocks(self.core, batches)

    def _stuck(self) -> str:
        """Which warps cannot go on, and where they stand."""
        m = self.core.machine
        first, last = int(m[at.FIRST_WARP]), int(m[at.FIRST_SCHEDULER])
        waiting = [warp for warp in range(first, last) if self.core.rows[warp, at.PRESENT]]
        told = ", ".join(self._place_of(warp) for warp in waiting[:4])
        more = f" and {len(waiting) - 4} more" if len(waiting) > 4 else ""
        return f"kernel {self.kernel.name}: no warp can go on in cycle {self.core.clock[at.NOW]}: {told}{more}"

    def _place_of(self, warp: int) -> str:
        row, m = self.core.rows[warp], self.core.machine
        sm, slot = divmod(warp - int(m[at.FIRST_WARP]), int(m[at.SLOTS]))
        block = int(self.core.rows[row[at.BLOCK], at.BLOCK_INDEX])
        return f"SM {sm} slot {slot} (thread block {block}) at instruction {row[at.HEAD]}"


def memory_calls(system: Memory) -> Mapping[Any, Any]:
    """The functions of a memory system by those of `calls` in whose place they stand."""
    own = memory.functions(system)._asdict()
    return {cast(Callable[..., Any], getattr(calls, name)): function for name, function in own.items()}
