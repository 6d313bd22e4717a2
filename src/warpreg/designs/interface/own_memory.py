"""Registers that a design sends to memory and fetches back: an address space of its own, in lines of 128 bytes.

Each SM has a line for every register of every warp slot, and behind them lines that the design numbers itself, for
what it packs::

    spill(plan, register)                            # 128 bytes, to the line of the register
    fetch(plan, register)                            # the hook `transferred` follows
    spill(plan, register, line=7, offset=8, bytes=8)    # a compressed register in line 7 of the design's own

They go through the load-store unit to the memory system, as docs/reference/timing.md says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.rebuild import reaches
from warpreg.designs.interface.hooks import authors_of_hook
from warpreg.designs.interface.paths import MEMORY, TRANSFER
from warpreg.designs.interface.plan import (
    ACCESSES,
    BYTES,
    FETCHED,
    SENT,
    SENT_LINE,
    SENT_PATH,
    SENT_REGISTER,
    SENT_SECTORS,
    SENT_WARP,
    SENT_WAY,
    SPILLED,
    UNSET,
    Plan,
)
from warpreg.designs.interface.plan_functions import queue_extra

LINE_BYTES = 128
SECTOR_BYTES = 32
ALL_SECTORS = 15
REGISTER_BYTES = 128
"""Of a warp-register."""
REGISTERS = 256
"""Lines of the registers of a warp slot."""
MAX_LINE = (1 << 19) - 1
"""The last line of a design's own."""


def spill(
    plan: Plan, register: int, warp: int = UNSET, line: int = UNSET, offset: int = 0, bytes: int = REGISTER_BYTES
) -> None:
    """Write ``register`` of ``warp`` (by default that of the call) to memory; its value is taken at once.

    ``line``: a line of the design's own in this SM instead of that of the register; ``offset``: its first byte there;
    ``bytes``: how many it takes, if it is compressed.
    """
    _send(plan, SPILLED, register, warp, line, offset, bytes)


def fetch(
    plan: Plan, register: int, warp: int = UNSET, line: int = UNSET, offset: int = 0, bytes: int = REGISTER_BYTES
) -> None:
    """Read ``register`` of ``warp`` from memory.  When it is there, the hook ``transferred`` is called with the path
    MEMORY, in a replay directly after the hook that has asked for it.

    The others as in `spill`.
    """
    _send(plan, FETCHED, register, warp, line, offset, bytes)


def sends_to_memory(hooks: Mapping[str, FunctionType]) -> bool:
    """Whether hooks call `spill` or `fetch`, also through functions."""
    authors = tuple(author for hook in hooks.values() for author in authors_of_hook(hook))
    return reaches(authors, (spill, fetch))


def traffic_events(hooks: Mapping[str, FunctionType], traffic: NDArray[np.int64]) -> dict[str, int]:
    """What a design has sent to memory and fetched, by name; nothing of a design that does neither."""
    if not sends_to_memory(hooks):
        return {}
    return {
        "memory writes": int(traffic[SPILLED, ACCESSES]),
        "memory reads": int(traffic[FETCHED, ACCESSES]),
        "memory bytes written": int(traffic[SPILLED, BYTES]),
        "memory bytes read": int(traffic[FETCHED, BYTES]),
    }


def sectors_of(offset: int, bytes: int) -> int:
    """The sectors of a line that hold some of its bytes, a bit each."""
    first, end = offset // SECTOR_BYTES, (offset + bytes + SECTOR_BYTES - 1) // SECTOR_BYTES
    return ((1 << (end - first)) - 1) << first & ALL_SECTORS


def _send(plan: Plan, way: int, register: int, warp: int, line: int, offset: int, bytes: int) -> None:
    plan.traffic[way, ACCESSES] += 1
    plan.traffic[way, BYTES] += bytes
    if plan.detailed:
        if plan.queued[SENT] < plan.sent.shape[0]:
            row = plan.sent[plan.queued[SENT]]
            row[SENT_WAY] = way
            row[SENT_WARP] = warp if warp >= 0 else plan.warp
            row[SENT_REGISTER] = register
            row[SENT_LINE] = line
            row[SENT_SECTORS] = sectors_of(offset, bytes)
            row[SENT_PATH] = plan.first_path + MEMORY
        plan.queued[SENT] += 1
    elif way == FETCHED and plan.extras.shape[0] > 0:
        queue_extra(plan, TRANSFER + plan.first_path + MEMORY, register, warp, UNSET)
