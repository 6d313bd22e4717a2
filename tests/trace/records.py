"""Words of schedules for tests; the layout is that of `warpreg.trace.schedule`."""

from __future__ import annotations

from warpreg.trace.schedule import AMOUNT_SHIFT, SLOT_SHIFT, ScheduleWord


def record_word(kind: ScheduleWord, slot: int, amount: int = 0) -> int:
    """The first word of a record."""
    return kind | slot << SLOT_SHIFT | amount << AMOUNT_SHIFT
