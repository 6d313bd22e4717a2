"""The stall account: one row per scheduler, one column per cause."""

from __future__ import annotations

from typing import TypeAlias

from warpreg.timing.core.columns.typed import AccountRow, Column

Cause: TypeAlias = Column[AccountRow, int]

NAMES: list[str] = []
"""Names by column, in the order of docs/reference/timing.md; every cycle of every warp slot has exactly one cause."""


def _cause(name: str) -> Cause:
    NAMES.append(name)
    return Cause(len(NAMES) - 1)


ISSUED = _cause("issued")
NOT_SELECTED = _cause("not selected")
FETCH = _cause("fetch")
ALU = _cause("alu")
SFU = _cause("sfu")
DP = _cause("dp")
SHARED = _cause("shared")
MEMORY = _cause("memory")
OPERANDS = _cause("operands")
UNIT = _cause("unit")
MEMORY_QUEUE = _cause("memory queue")
BARRIER = _cause("barrier")
FENCE = _cause("fence")
TOKEN = _cause("token")
INACTIVE = _cause("inactive")
SWAP = _cause("swap")
DRAIN = _cause("drain")
EMPTY = _cause("empty")
OTHER = _cause("other")
COUNT = len(NAMES)

READY = Cause(COUNT)
"""A warp that could issue but for structural hazards; its cycles are accounted per scheduler."""
WAITS = (ALU, SFU, DP, SHARED, MEMORY)
"""Causes by wait class, from the fastest to the slowest class."""
