"""Return values of a run of the core: why it stopped."""

from __future__ import annotations

DONE, NEEDS_BLOCKS, NEEDS_ROOM, STUCK, OVERFLOWED = range(5)
