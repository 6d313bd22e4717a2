"""Loads that wait for the data of another load under way, which is the pending register of §5.5.2.

A load that waits names the registers that it needs, with a reference to each that it will read.  When the last of them
that is under way has its data, the load is complete.

A state that uses it has the fields of `registers` and these.  Per SM: ``under_way`` [physical register], whether a load
is under way to it; ``waiters`` [physical register], the first link of those that wait for it; ``burden`` [physical
register], what they ask of the cycle in which its data arrive; ``links`` [link, column], ``waits`` [load, column] and
``unused`` [FREE_LINK, FREE_WAIT, LINKS_LEFT], the first free row of each, and how many links are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.load_sharing.address_table import NONE
from warpreg.designs.load_sharing.registers import drop

PHYSICAL, WAIT, NEXT_WAITER, NEXT_PART, READS = range(5)
"""Columns of ``links``: a register, the load that waits for it, the next link of the register and of the load, whether
the load reads it.
"""
LOAD, MISSING, PARTS = range(3)
"""Columns of ``waits``: the number of a load, registers whose data it lacks, its first link."""
FREE_LINK, FREE_WAIT, LINKS_LEFT = range(3)
MOST_BURDEN = 60
"""Reads and completed loads that one arrival may cause, as hooks may ask for 64 of each at a time."""


def nothing_waits(physical: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field."""
    links = np.zeros((2 * physical, 5), np.int64)
    waits = np.zeros((physical, 3), np.int64)
    links[:, NEXT_PART] = _each_the_next(len(links))
    waits[:, PARTS] = _each_the_next(len(waits))
    return {
        "under_way": np.zeros(physical, np.int64),
        "waiters": np.full(physical, NONE, np.int64),
        "burden": np.zeros(physical, np.int64),
        "links": links,
        "waits": waits,
        "unused": np.array([0, 0, len(links)], np.int64),
    }


def _each_the_next(count: int) -> NDArray[np.int64]:
    following = np.arange(1, count + 1)
    following[-1] = NONE
    return following


def begin_wait(state: Any, sm: int, load: int) -> int:
    """A load begins to wait; returns its row of ``waits``."""
    wait: int = state.unused[sm, FREE_WAIT]
    state.unused[sm, FREE_WAIT] = state.waits[sm, wait, PARTS]
    state.waits[sm, wait, LOAD] = load
    state.waits[sm, wait, MISSING] = 0
    state.waits[sm, wait, PARTS] = NONE
    return wait


def add_part(state: Any, sm: int, wait: int, physical: int, reads: bool) -> None:
    """It needs a register, and holds a reference to it if it ``reads`` it."""
    link = state.unused[sm, FREE_LINK]
    state.unused[sm, FREE_LINK] = state.links[sm, link, NEXT_PART]
    state.unused[sm, LINKS_LEFT] -= 1
    state.links[sm, link, PHYSICAL] = physical
    state.links[sm, link, WAIT] = wait
    state.links[sm, link, READS] = reads
    state.links[sm, link, NEXT_PART] = state.waits[sm, wait, PARTS]
    state.waits[sm, wait, PARTS] = link
    if reads:
        state.references[sm, physical] += 1
    if state.under_way[sm, physical]:
        state.links[sm, link, NEXT_WAITER] = state.waiters[sm, physical]
        state.waiters[sm, physical] = link
        state.waits[sm, wait, MISSING] += 1


def can_wait(state: Any, sm: int, parts: int) -> bool:
    """Whether another load with so many parts can wait."""
    return bool(state.unused[sm, FREE_WAIT] != NONE and state.unused[sm, LINKS_LEFT] >= parts)


def next_complete(state: Any, sm: int, physical: int) -> int:
    """The data of a register have arrived: take the loads off that wait for it, until one lacks nothing else; NONE
    after the last.
    """
    while state.waiters[sm, physical] != NONE:
        link = state.waiters[sm, physical]
        state.waiters[sm, physical] = state.links[sm, link, NEXT_WAITER]
        wait: int = state.links[sm, link, WAIT]
        state.waits[sm, wait, MISSING] -= 1
        if state.waits[sm, wait, MISSING] == 0:
            return wait
    return NONE


def next_read(state: Any, sm: int, wait: int) -> int:
    """A load that is complete gives its parts back; returns one that it reads, NONE after the last.

    The register is read in this cycle, before another result can take it.
    """
    while state.waits[sm, wait, PARTS] != NONE:
        link = state.waits[sm, wait, PARTS]
        state.waits[sm, wait, PARTS] = state.links[sm, link, NEXT_PART]
        state.links[sm, link, NEXT_PART] = state.unused[sm, FREE_LINK]
        state.unused[sm, FREE_LINK] = link
        state.unused[sm, LINKS_LEFT] += 1
        if state.links[sm, link, READS]:
            physical: int = state.links[sm, link, PHYSICAL]
            drop(state, sm, physical)
            return physical
    return NONE


def end_wait(state: Any, sm: int, wait: int) -> None:
    """A complete load no longer waits."""
    state.waits[sm, wait, PARTS] = state.unused[sm, FREE_WAIT]
    state.unused[sm, FREE_WAIT] = wait
