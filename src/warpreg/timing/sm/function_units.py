"""Function units of the pipes of a scheduler, and when one of them is free."""

from __future__ import annotations

from warpreg.timing.core.columns import function_units, schedulers
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, SchedulerRow, SmRow, UnitsRow
from warpreg.timing.sm.load_store_unit import has_room


def units_of(c: Core, row: SchedulerRow, pipe: int) -> UnitsRow:
    """The units that execute a scheduler's instructions of a pipe."""
    return c.rows[row, schedulers.UNITS_FOR + pipe]


def free_at(c: Core, sm: SmRow, units: UnitsRow) -> int:
    """The first cycle in which a unit accepts an instruction: ``now`` or earlier, a later cycle, or NEVER if the
    instruction must enter the load-store queue and the queue is full.
    """
    if c.rows[units, function_units.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return NEVER
    return c.rows[units, function_units.FREE_AT]


def take_unit(c: Core, units: UnitsRow, until: int) -> None:
    """Give an instruction to the unit that has been free the longest."""
    if c.rows[units, function_units.SIZE] == 1:
        c.rows[units, function_units.FREE_AT] = until
        return
    first = c.rows[units, function_units.FIRST]
    last = first + c.rows[units, function_units.SIZE]
    free = first
    for unit in range(first + 1, last):
        if c.units[unit] < c.units[free]:
            free = unit
    c.units[free] = until
    soonest = until
    for unit in range(first, last):
        soonest = min(soonest, c.units[unit])
    c.rows[units, function_units.FREE_AT] = soonest
