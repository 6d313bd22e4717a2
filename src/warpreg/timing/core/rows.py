"""Places of things in the core's rows: how many words lie in front of their row."""

from __future__ import annotations

from warpreg.timing.core import columns as at
from warpreg.timing.core.columns import Core


def warp_at(c: Core, sm: int, slot: int) -> int:
    """The warp in a slot of an SM."""
    return (c.machine[at.FIRST_WARP] + sm * c.machine[at.SLOTS] + slot) * c.machine[at.ROW]


def warp_of(c: Core, sm: int, scheduler: int, position: int) -> int:
    """The warp at a position among those of a scheduler."""
    return warp_at(c, sm, position * c.machine[at.SCHEDULERS] + scheduler)


def slot_of(c: Core, sm: int, warp: int) -> int:
    """The slot of a warp in its SM."""
    return (warp - warp_at(c, sm, 0)) // c.machine[at.ROW]


def number_of(c: Core, warp: int) -> int:
    """A warp as hooks know it: its slot, counted over all SMs."""
    return warp // c.machine[at.ROW] - c.machine[at.FIRST_WARP]


def scheduler_at(c: Core, sm: int, scheduler: int) -> int:
    return (c.machine[at.FIRST_SCHEDULER] + sm * c.machine[at.SCHEDULERS] + scheduler) * c.machine[at.ROW]


def group_at(c: Core, sm: int, group: int) -> int:
    return (c.machine[at.FIRST_GROUP] + sm * c.machine[at.GROUPS] + group) * c.machine[at.ROW]


def units_at(c: Core, sm: int, units: int) -> int:
    return (c.machine[at.FIRST_UNITS] + sm * c.machine[at.UNITS] + units) * c.machine[at.ROW]


def collector_at(c: Core, sm: int, collector: int) -> int:
    return c.table[sm, at.COLLECTORS_AT] + collector * c.machine[at.ROW]


def bank_at(c: Core, sm: int, bank: int) -> int:
    return c.table[sm, at.BANKS_AT] + bank * c.machine[at.ROW]


def block_at(c: Core, sm: int, block: int) -> int:
    """A thread block that is resident in an SM."""
    return c.table[sm, at.BLOCKS_AT] + block * c.machine[at.ROW]
