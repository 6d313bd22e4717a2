"""The state of LARF."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program, per_sm, per_warp
from warpreg.designs.parts.load_sharing.address_table import empty_entries
from warpreg.designs.parts.load_sharing.merging import nothing_near
from warpreg.designs.parts.load_sharing.registers import all_free, unmapped
from warpreg.designs.parts.load_sharing.shadow import shadow
from warpreg.designs.parts.load_sharing.waiting import nothing_waits

MAX_WORDS = 8
"""Registers of the widest load."""
ORDINARY, SHARED, OWNED = 0, -1, 1
"""How the result of a load under way is written: like any other; not at all; OWNED + p, to physical register p."""
JOIN, MISS, COMPLETE = PENDING_RULES = ("join", "miss", "complete")
"""What a load does that finds an entry whose data are under way: it waits for them; it does not find the entry; it is
complete at once.
"""
AFTER_FENCE, UNDER_WAY = 1, 2
"""What ``fenced`` adds up: a fence has issued, and nothing after it; each atomic and ordered load under way."""


class State(NamedTuple):
    """The fields of `address_table`, `merging`, `registers`, `waiting` and `shadow`, and these."""

    enabled: bool
    """Else this is the plain register file."""
    partial: bool
    """Two registers may be merged."""
    enters_merged: bool
    """A merged register gets an entry."""
    hides_pending: bool
    """An entry whose data are under way is not found."""
    joins_pending: bool
    """A load waits for such data, else it does not."""
    banks: int
    """Banks of the register file."""
    entries: int
    merge_cycles: int
    """Cycles that the collector slot of a merge takes."""
    versioned: bool
    fenced: NDArray[np.int64]
    """By warp, what orders its accesses."""
    registers: NDArray[np.int32]
    physical: NDArray[np.int64]
    own: NDArray[np.int64]
    free: NDArray[np.int64]
    hashed: NDArray[np.int64]
    addresses: NDArray[np.int64]
    near: NDArray[np.int64]
    parts: NDArray[np.int64]
    """By SM [word, part, column]: the registers that answer a load (NONE)."""
    links: NDArray[np.int64]
    waits: NDArray[np.int64]
    words: NDArray[np.int64]
    faults: NDArray[np.int64]
    kept: NDArray[np.int64]
    orders: NDArray[np.int64]


def empty(
    program: Program,
    physical: int,
    banks: int,
    entries: int,
    *,
    enabled: bool = True,
    partial: bool = True,
    enters_merged: bool = False,
    pending: str = JOIN,
    merge_cycles: int = 4,
    versioned: bool = False,
) -> State:
    """An SM of ``physical`` free warp-registers and an empty table of at most so many ``entries``."""
    sized = (empty_entries(), nothing_near(), all_free(physical), nothing_waits(physical))
    of_sm: dict[str, Any] = {name: per_sm(row) for rows in sized for name, row in rows.items()}
    of_warp: dict[str, Any] = {name: per_warp(row) for name, row in unmapped(program.register_count).items()}
    return State(
        enabled=enabled,
        partial=partial,
        enters_merged=enters_merged,
        hides_pending=pending == MISS,
        joins_pending=pending == JOIN,
        banks=banks,
        entries=entries,
        merge_cycles=merge_cycles,
        fenced=per_warp(np.int64(0)),
        parts=per_sm(np.zeros((MAX_WORDS, 2, 2), np.int64)),
        **of_sm,
        **of_warp,
        **shadow(versioned, physical),
    )
