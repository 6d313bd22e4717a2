"""Loads that wait for the data of another load under way, which is the pending register of §5.5.2.

A load that waits names the registers that it needs, with a reference to each that it will read.  When the last of them
that is under way has its data, the load is complete.

A state that uses it has the fields of `registers` and, per SM, ``links`` [link, column] and ``waits`` [load, column].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.parts.load_sharing.columns import (
    FREE_LINK,
    FREE_WAIT,
    LINKS_LEFT,
    NONE,
    REFERENCES,
    UNDER_WAY,
    WAITERS,
)
from warpreg.designs.parts.load_sharing.registers import LINKS_OF_REGISTER, drop, each_the_next

PHYSICAL, WAIT, NEXT_WAITER, NEXT_PART, READS = range(5)
"""Columns of ``links``: a register, the load that waits for it, the next link of the register and of the load, whether
the load reads it.
"""
LOAD, MISSING, PARTS = range(3)
"""Columns of ``waits``: the number of a load, registers whose data it lacks, its first link."""
MAX_BURDEN = 60
"""Reads and completed loads that one arrival may cause, as hooks may ask for 64 of each at a time."""


def nothing_waits(physical: int) -> dict[str, NDArray[Any]]:
    """The initial rows of an SM, by field."""
    links = np.zeros((LINKS_OF_REGISTER * physical, 5), np.int64)
    waits = np.zeros((physical, 3), np.int64)
    links[:, NEXT_PART] = each_the_next(len(links))
    waits[:, PARTS] = each_the_next(len(waits))
    return {"links": links, "waits": waits}


def begin_wait(state: Any, sm: int, load: int) -> int:
    """A load begins to wait; returns its row of ``waits``."""
    wait: int = state.own[sm, FREE_WAIT]
    state.own[sm, FREE_WAIT] = state.waits[sm, wait, PARTS]
    state.waits[sm, wait, LOAD] = load
    state.waits[sm, wait, MISSING] = 0
    state.waits[sm, wait, PARTS] = NONE
    return wait


def add_part(state: Any, sm: int, wait: int, physical: int, reads: bool) -> None:
    """It needs a register, and holds a reference to it if it ``reads`` it."""
    link = state.own[sm, FREE_LINK]
    state.own[sm, FREE_LINK] = state.links[sm, link, NEXT_PART]
    state.own[sm, LINKS_LEFT] -= 1
    state.links[sm, link, PHYSICAL] = physical
    state.links[sm, link, WAIT] = wait
    state.links[sm, link, READS] = reads
    state.links[sm, link, NEXT_PART] = state.waits[sm, wait, PARTS]
    state.waits[sm, wait, PARTS] = link
    if reads:
        state.physical[sm, physical, REFERENCES] += 1
    if state.physical[sm, physical, UNDER_WAY]:
        state.links[sm, link, NEXT_WAITER] = state.physical[sm, physical, WAITERS]
        state.physical[sm, physical, WAITERS] = link
        state.waits[sm, wait, MISSING] += 1


def can_wait(state: Any, sm: int, parts: int) -> bool:
    """Whether another load with so many parts can wait."""
    return bool(state.own[sm, FREE_WAIT] != NONE and state.own[sm, LINKS_LEFT] >= parts)


def next_complete(state: Any, sm: int, physical: int) -> int:
    """The data of a register have arrived: take the loads off that wait for it, until one lacks nothing else; NONE
    after the last.
    """
    while state.physical[sm, physical, WAITERS] != NONE:
        link = state.physical[sm, physical, WAITERS]
        state.physical[sm, physical, WAITERS] = state.links[sm, link, NEXT_WAITER]
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
        state.links[sm, link, NEXT_PART] = state.own[sm, FREE_LINK]
        state.own[sm, FREE_LINK] = link
        state.own[sm, LINKS_LEFT] += 1
        if state.links[sm, link, READS]:
            physical: int = state.links[sm, link, PHYSICAL]
            drop(state, sm, physical)
            return physical
    return NONE


def end_wait(state: Any, sm: int, wait: int) -> None:
    """A complete load no longer waits."""
    state.waits[sm, wait, PARTS] = state.own[sm, FREE_WAIT]
    state.own[sm, FREE_WAIT] = wait
