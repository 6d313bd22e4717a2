"""Cooperative launches: thread blocks that wait for each other run concurrently.

The launch record and its memory hold one thread block at a time; the state of the others is stored here.  The turn of a
thread block ends when a warp polls global memory and its other warps have had their turns, or after a fixed number of
warp-instructions; then the next one continues.  The order of thread blocks therefore does not depend on the host.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.block.native_records import FRESH_BASE, FRESH_MASK, FRESH_STRIDE, SiteField, Slot, Stop
from warpreg.simt.launch.faults import LaunchError

if TYPE_CHECKING:
    from warpreg.simt.launch.launch import LaunchRun

MAX_BLOCKS = 132 * 32
"""Thread blocks that the largest machine of `gpu/machines` holds at once: 32 on each of 132 SMs."""

MAX_BYTES = 1 << 31
"""Limit of host memory for the state of all thread blocks, in bytes."""

TURN = 1_000_000
"""Warp-instructions after which the next thread block continues, even if no warp polls."""

PATIENCE = 2
"""Consecutive turns of every thread block without a change, after which the launch counts as a deadlock."""

WORKSPACE_BYTES = 64
"""Memory that ``%envreg1`` and ``%envreg2`` address: its size, then the barrier's count, 32 bits each."""

_OWN = np.array(
    [
        *(Slot.CTAID_X, Slot.CTAID_Y, Slot.CTAID_Z, Slot.THREAD_BLOCK, Slot.BLOCK_LIVE, Slot.ALIVE, Slot.READY),
        *(Slot.PENDING, Slot.WARP, Slot.TURN_END, Slot.PATH_WARP, Slot.FAILED_WAITS),
        *range(Slot.ARRIVED, Slot.TARGETS),
    ]
)
"""Fields of the launch record that belong to the running thread block."""


def workspace() -> NDArray[np.uint32]:
    """The contents of a workspace at the start of a launch."""
    words = np.zeros(WORKSPACE_BYTES // 4, np.uint32)
    words[0] = WORKSPACE_BYTES
    return words


@dataclass
class _Resident:
    """A thread block that is not running: its fields of the launch record, and copies of its memory."""

    fields: NDArray[np.uint64]
    memory: tuple[NDArray[Any], ...]


def drive(run: LaunchRun) -> None:
    """Run all thread blocks to the end.  Raises LaunchError if they do not fit at the same time, and ExecutionError."""
    launch, count = run.launch, math.prod(run.grid)
    memory: tuple[NDArray[Any], ...] = (run.warps, run.shared, run.local, run.sites)
    _check(run, count, sum(array.nbytes for array in memory))
    _stand_alone(run.sites)
    fresh = tuple(array.copy() for array in memory)
    waiting = deque(_Resident(_first_fields(run, block), fresh) for block in range(count))
    unchanged = 0
    while waiting:
        block = waiting.popleft()
        launch[_OWN] = block.fields
        for array, content in zip(memory, block.memory, strict=True):
            array[...] = content
        number = int(launch[Slot.THREAD_BLOCK])
        launch[Slot.THREAD_BLOCKS] = number + 1
        run.recorder.go_on_with(number)
        stop = _turn(run)
        if stop is Stop.FINISHED:
            unchanged = 0
            run.report_progress(count - len(waiting), count)
            continue
        after = _Resident(launch[_OWN], tuple(array.copy() for array in memory))
        unchanged = unchanged + 1 if _is_same(block, after) else 0
        waiting.append(after)
        if unchanged >= PATIENCE * len(waiting):
            raise run.report.grid_deadlock(len(waiting), count)
    launch[Slot.THREAD_BLOCK] = launch[Slot.THREAD_BLOCKS] = count


def _turn(run: LaunchRun) -> Stop:
    """Run the thread block in the launch record until it yields, ends or has had its turn."""
    end = int(run.launch[Slot.EXECUTED]) + TURN
    while True:
        stop = run.advance(end)
        if stop is not Stop.PAUSED or run.launch[Slot.EXECUTED] >= end:
            return stop


def _check(run: LaunchRun, count: int, size: int) -> None:
    most = min(MAX_BLOCKS, MAX_BYTES // max(1, size))
    if count > most:
        raise LaunchError(
            f"kernel '{run.kernel.name}': its thread blocks wait for each other, and at most {most} fit side by side, "
            f"not {count}"
        )


def _first_fields(run: LaunchRun, block: int) -> NDArray[np.uint64]:
    fields: NDArray[np.uint64] = np.zeros(Slot.COUNT, np.uint64)
    x, y, _ = run.grid
    fields[Slot.CTAID_X : Slot.CTAID_Z + 1] = block % x, block // x % y, block // (x * y)
    fields[Slot.THREAD_BLOCK] = block
    own: NDArray[np.uint64] = fields[_OWN]
    return own


def _stand_alone(sites: NDArray[np.uint64]) -> None:
    """Reset the recorder state of memory instructions, so that the first record of each in a thread block is
    absolute.
    """
    for field, value in (
        (SiteField.BASE, FRESH_BASE),
        (SiteField.STRIDE, FRESH_STRIDE),
        (SiteField.MASK, FRESH_MASK),
        (SiteField.GROUP_STRIDE, 0),
    ):
        sites[:, field // 8] = value


def _is_same(before: _Resident, after: _Resident) -> bool:
    """Whether a turn left a thread block unchanged, except for the order of its warps."""
    *one, _ = before.memory
    *two, _ = after.memory
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
