"""Words that threads read and write at the same time, and waiting for them."""

from __future__ import annotations

import time

from piecewise_numba.natives import native
from warpreg.timing.core import thread_intrinsics
from warpreg.timing.core.typed import Column, Table, TeamRow

SLEEP_US = thread_intrinsics.SLEEP_US
SPINS, YIELDS = 10_000, 64
"""Turns of a waiting thread before it lets others run, and before it sleeps.  Chosen, not measured."""


@native(thread_intrinsics.seen)
def seen(team: Table[TeamRow], row: TeamRow, column: Column[TeamRow, int]) -> int:
    """A word, and with it all that its thread wrote before it."""
    return team[row, column]


@native(thread_intrinsics.publish)
def publish(team: Table[TeamRow], row: TeamRow, column: Column[TeamRow, int], value: int) -> None:
    """Write a word; who sees it sees all that was written before."""
    team[row, column] = value


@native(thread_intrinsics.pause)
def pause() -> None:
    """Let the other hardware thread of the processor run for some cycles; interpreted, another thread."""
    time.sleep(0)


@native(thread_intrinsics.let_others_run)
def let_others_run() -> None:
    """Give the processor to another thread that could run, if there is one."""
    time.sleep(0)


@native(thread_intrinsics.sleep)
def sleep() -> None:
    """Sleep for some ten microseconds."""
    time.sleep(1e-6 * SLEEP_US)


@native(thread_intrinsics.processor_cycles)
def processor_cycles() -> int:
    """The cycle counter of the processor; interpreted, 0."""
    return 0


def wait_a_little(turns: int) -> int:
    """One turn of a thread that waits; returns the number of its turns so far."""
    if turns < SPINS:
        pause()
    elif turns < SPINS + YIELDS:
        let_others_run()
    else:
        sleep()
    return turns + 1
