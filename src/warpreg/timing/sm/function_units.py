"""Function units: those that a pipe of a scheduler uses, and when one of them is free."""

from __future__ import annotations

from warpreg.timing.core import columns as at
from warpreg.timing.core.columns import Core
from warpreg.timing.sm.load_store_unit import has_room


def units_of(c: Core, row: int, pipe: int) -> int:
    """The row of the units that a scheduler's instructions of a pipe go to; ``row`` is the scheduler's."""
    return c.rows[row, at.UNITS_FOR + pipe]


def free_at(c: Core, sm: int, units: int) -> int:
    """When one takes an instruction: now or earlier, a later cycle, or NEVER while it would have to enter the queue of
    the load-store unit and that is full.
    """
    if c.rows[units, at.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return at.NEVER
    return c.rows[units, at.FREE_AT]


def take_unit(c: Core, units: int, until: int) -> None:
    """The one that has been free the longest takes an instruction."""
    if c.rows[units, at.UNIT_COUNT] == 1:
        c.rows[units, at.FREE_AT] = until
        return
    first = c.rows[units, at.FIRST_UNIT]
    last = first + c.rows[units, at.UNIT_COUNT]
    free = first
    for unit in range(first + 1, last):
        if c.units[unit] < c.units[free]:
            free = unit
    c.units[free] = until
    soonest = until
    for unit in range(first, last):
        soonest = min(soonest, c.units[unit])
    c.rows[units, at.FREE_AT] = soonest
