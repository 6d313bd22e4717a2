"""Return values of a run of the core: why it stopped."""

from __future__ import annotations

DONE, NEEDS_BLOCKS, NEEDS_ROOM, STUCK, OVERFLOWED, STOPPED, GOING = range(7)
"""STOPPED: because another thread did; GOING: it has not stopped."""
